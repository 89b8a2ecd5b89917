# SPDX-License-Identifier: MIT
"""Golden values of the optimizers: 20 full-batch steps of a UDV head in float64 by PyTorch.

usage: make.py > golden.json
NAdam is written out as in PyTorch 2 (1.13's single-tensor path forgets mu_product_next).
"""
import json

import torch

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
N, D, M, C, STEPS, RATE, DECAY = 12, 5, 4, 2, 20, 0.05, 0.01
X, Y = torch.randn(N, D), torch.randn(N, C)
U0, V0 = torch.randn(M, D) / 4, torch.randn(C, M) / 4


class NAdam:
    def __init__(self, parameters, lr, weight_decay):
        self.p, self.lr, self.decay, self.t, self.product = parameters, lr, weight_decay, 0, 1.0
        self.m = [torch.zeros_like(p) for p in parameters]
        self.v = [torch.zeros_like(p) for p in parameters]

    def zero_grad(self):
        for p in self.p:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.t += 1
        mu = 0.9 * (1 - 0.5 * 0.96 ** (self.t * 4e-3))
        mu_next = 0.9 * (1 - 0.5 * 0.96 ** ((self.t + 1) * 4e-3))
        self.product *= mu
        for p, m, v in zip(self.p, self.m, self.v):
            g = p.grad + self.decay * p
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            denominator = (v / (1 - 0.999**self.t)).sqrt() + 1e-8
            p.addcdiv_(g, denominator, value=-self.lr * (1 - mu) / (1 - self.product))
            p.addcdiv_(m, denominator, value=-self.lr * mu_next / (1 - self.product * mu_next))


MAKERS = {
    "adam": torch.optim.Adam,
    "nadam": NAdam,
    "mbgd": torch.optim.SGD,
    "mbgdm": lambda p, lr, weight_decay: torch.optim.SGD(p, lr, momentum=0.9, weight_decay=weight_decay),
    "adamw": torch.optim.AdamW,
}


def to_ball(W):
    W.mul_(1 / max(1.0, W.norm().item()))


def run(maker, decay):
    U, w, V = (torch.nn.Parameter(p.clone()) for p in (U0, torch.ones(M), V0))
    with torch.no_grad():
        to_ball(U), to_ball(V)
    optimizer = maker([U, w, V], lr=RATE, weight_decay=decay)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(((X @ U.T) * w) @ V.T, Y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            to_ball(U), to_ball(V), w.clamp_(min=0)
        losses.append(loss.item())
    weights = torch.cat([p.detach().flatten() for p in (U, w, V)])
    return {"losses": losses, "weights": weights.tolist()}


print(
    json.dumps(
        {
            "rate": RATE,
            "X": X.tolist(),
            "Y": Y.tolist(),
            "U": U0.tolist(),
            "V": V0.tolist(),
            "runs": [
                {"optimizer": name, "weight_decay": decay, **run(maker, decay)}
                for name, maker in MAKERS.items()
                for decay in (0, DECAY)
            ],
        },
        indent=1,
    )
)
