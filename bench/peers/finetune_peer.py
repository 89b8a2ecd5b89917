# SPDX-License-Identifier: MIT
"""What bench_deep trains, as a PyTorch script: images per second in bf16 channels-last.

usage: finetune_peer.py BACKBONE.pt DATA_FOLDER [--device cuda] [--batch 512] [--size 224] [--steps 30]

Three ways: the same TorchScript file under autocast, the same file with bf16 weights and single precision copies, and, where
torchvision is there, its own EfficientNet-B0 (with batch normalisation) under autocast. Pictures lie on the device as bytes; they
are moved, mirrored and resized there, as bench_deep does it. One JSON line each.
"""
import argparse
import json
import time

import numpy
import torch
import torch.nn.functional as F


def read_cifar(folder, count):
    records = numpy.fromfile(f"{folder}/data_batch_1.bin", dtype=numpy.uint8).reshape(-1, 3073)[:count]
    return torch.from_numpy(records[:, 1:].reshape(-1, 3, 32, 32).copy()), torch.from_numpy(records[:, 0].astype(numpy.int64))


def batch_of(images, labels, size, count):
    picked = torch.randint(len(images), (count,), device=images.device)
    x = F.pad(images[picked], (4, 4, 4, 4))
    rows = torch.randint(9, (count, 1), device=x.device) + torch.arange(32, device=x.device)
    flip = torch.randint(2, (count, 1), device=x.device)
    columns = torch.arange(32, device=x.device)
    columns = torch.randint(9, (count, 1), device=x.device) + (1 - flip) * columns + flip * (31 - columns)
    which = torch.arange(count, device=x.device)
    x = x[which[:, None, None], :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
    x = F.interpolate(x.float() / 255, size=(size, size), mode="bilinear", align_corners=False)
    return x.contiguous(memory_format=torch.channels_last), labels[picked]


def train(name, body, features, images, labels, options, half_weights=False):
    device = torch.device(options.device)
    body = body.to(device).train()
    masters = None
    if half_weights:
        masters = [p.detach().float().clone() for p in body.parameters()]
        body = body.to(torch.bfloat16)
    for p in body.parameters():
        if p.dim() == 4:
            p.data = p.data.contiguous(memory_format=torch.channels_last)
    head = torch.nn.Sequential(torch.nn.Linear(features, features, bias=False), torch.nn.Linear(features, 10, bias=False)).to(device)
    steps = masters if half_weights else list(body.parameters())
    rule = torch.optim.Adam([{"params": steps, "lr": 1e-4}, {"params": head.parameters(), "lr": 1e-3}])
    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)

    def step():
        x, y = batch_of(images, labels, options.size, options.batch)
        rule.zero_grad(set_to_none=True)
        for p in body.parameters():
            p.grad = None
        if half_weights:
            loss = F.cross_entropy(head(body(x.bfloat16()).float()), y)
        else:
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                loss = F.cross_entropy(head(body(x)).float(), y)
        loss.backward()
        if half_weights:
            for master, p in zip(masters, body.parameters()):
                master.grad = p.grad.float()
        rule.step()
        if half_weights:
            with torch.no_grad():
                for master, p in zip(masters, body.parameters()):
                    p.copy_(master)
        return loss

    for _ in range(min(8, options.steps)):
        step()
    wait()
    begin = time.perf_counter()
    for _ in range(options.steps):
        loss = step()
    wait()
    rate = options.steps * options.batch / (time.perf_counter() - begin)
    print(json.dumps({"peer": name, "device": options.device, "batch": options.batch, "size": options.size,
                      "images_per_second": round(rate, 2), "loss": float(loss), "torch": torch.__version__}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("backbone")
    parser.add_argument("data")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    images, labels = read_cifar(options.data, 10000)
    images, labels = images.to(options.device), labels.to(options.device)
    load = lambda: torch.jit.load(options.backbone, map_location=options.device)
    # Compilers of TorchScript off, as in bench_deep with fuse=0: both run the operators one by one.
    with torch.jit.optimized_execution(False):
        train("TorchScript file, autocast", load(), 1280, images, labels, options)
        if options.device == "cuda":
            train("TorchScript file, bf16 weights", load(), 1280, images, labels, options, half_weights=True)
    try:
        import torchvision
    except ImportError:
        return
    model = torchvision.models.efficientnet_b0(weights=None)
    model.classifier = torch.nn.Identity()
    train("torchvision EfficientNet-B0, autocast", model, 1280, images, labels, options)


if __name__ == "__main__":
    main()
