# SPDX-License-Identifier: MIT
"""UDV and UV heads trained by PyTorch: seconds of a run, as bench/run prints them beside udv's.

usage: head_loop.py hpart TABLE.csv THREADS          79-26-1, batch 32, 200 epochs, Adam 1e-3
       head_loop.py wide D M C THREADS               100 steps with 128 random samples, Adam
       head_loop.py mnist FOLDER EPOCHS BATCH THREADS
Preprocessing is that of the notes: labels for words, minmax for all. The projections stand outside of autograd;
the data are tensors before the clock starts, and batches are slices of a permuted index.
"""
import csv
import gzip
import sys
import time

import numpy as np
import torch


class Head(torch.nn.Module):
    def __init__(self, d, m, c):
        super().__init__()
        self.U = torch.nn.Linear(d, m, bias=False)
        self.w = torch.nn.Parameter(torch.ones(m))
        self.V = torch.nn.Linear(m, c, bias=False)

    def forward(self, x):
        return self.V(self.U(x) * self.w)

    @torch.no_grad()
    def project(self):
        for W in (self.U.weight, self.V.weight):
            W.mul_(1 / W.norm().clamp(min=1))
        self.w.clamp_(min=0)


def train(model, X, Y, loss, epochs, batch):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        order = torch.randperm(len(X))
        for rows in order.split(batch):
            optimizer.zero_grad()
            loss(model(X[rows]), Y[rows]).backward()
            optimizer.step()
            model.project()
        schedule.step()


def column(values):
    try:
        x = np.array([float(v) if v != "NA" else np.nan for v in values])
        x = np.where(np.isnan(x), np.nanmean(x), x)
    except ValueError:
        codes = {v: i for i, v in enumerate(sorted(set(values)))}
        x = np.array([codes[v] for v in values], float)
    return (x - x.min()) / max(x.max() - x.min(), 1e-9)


def house_prices(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    names = [n for n in rows[0] if n not in ("Id", "SalePrice")]
    X = np.stack([column([r[n] for r in rows]) for n in names], 1)
    Y = column([r["SalePrice"] for r in rows])[:, None]
    return torch.tensor(X[:1168], dtype=torch.float32), torch.tensor(Y[:1168], dtype=torch.float32)


def mnist(folder):
    def read(name, offset):
        with gzip.open(f"{folder}/train-{name}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    X = torch.tensor(read("images-idx3", 16).reshape(-1, 784).astype(np.float32) / 255)
    return X, torch.tensor(read("labels-idx1", 8).astype(np.int64))


def main():
    what, *rest = sys.argv[1:]
    torch.manual_seed(0)
    torch.set_num_threads(int(rest[-1]))
    cross_entropy = torch.nn.functional.cross_entropy
    if what == "hpart":
        X, Y = house_prices(rest[0])
        model = Head(79, 26, 1)
        run = lambda: train(model, X, Y, torch.nn.functional.mse_loss, 200, 32)
    elif what == "mnist":
        X, Y = mnist(rest[0])
        model = Head(784, 522, 10)
        run = lambda: train(model, X, Y, cross_entropy, int(rest[1]), int(rest[2]))
    else:
        d, m, c = (int(word) for word in rest[:3])
        X, Y = torch.randn(12800, d), torch.randint(0, c, (12800,))
        model = Head(d, m, c)
        train(model, X[:1280], Y[:1280], cross_entropy, 1, 128)
        run = lambda: train(model, X, Y, cross_entropy, 1, 128)
    begin = time.perf_counter()
    run()
    print(f"{time.perf_counter() - begin:.4f}")


if __name__ == "__main__":
    main()
