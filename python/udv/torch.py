# SPDX-License-Identifier: MIT
"""Low-rank layers for PyTorch (1.13 or later), in pure Python.

>>> import torch, udv.torch                                            # doctest: +SKIP
>>> model = torch.nn.Sequential(udv.torch.UDVLinear(784, 256, variant="UDV-ReLU"), ...)
>>> optimizer = udv.torch.RelativeAdam(model)       # projects after each step by itself
"""

from __future__ import annotations

import fnmatch
import math
from typing import NamedTuple

import torch
from torch import nn

__all__ = ["UDVLinear", "RelativeAdam", "convert", "prune", "blocks", "project",
           "project_after_steps", "start_weight"]

FREE, BALL, NEURON_BALLS, NONNEGATIVE = "free", "ball", "neuron balls", "nonnegative"


class Variant(NamedTuple):
    """Constraint sets of U, D and V, as in the engine; no D where it is None."""

    U: str
    D: str | None
    V: str
    relu: bool = False


VARIANTS = {
    "UDV": Variant(BALL, NONNEGATIVE, BALL),
    "UDV-s": Variant(BALL, FREE, BALL),
    "UDV-v1": Variant(NEURON_BALLS, NONNEGATIVE, NEURON_BALLS),
    "UDV-v2": Variant(NEURON_BALLS, FREE, NEURON_BALLS),
    "UDV-unconstrained": Variant(FREE, FREE, FREE),
    "UDV-ReLU": Variant(BALL, NONNEGATIVE, BALL, True),
    "UDV-ReLU-s": Variant(BALL, FREE, BALL, True),
    "ReLU-constrained": Variant(BALL, None, BALL, True),
    "UV-ReLU": Variant(FREE, None, FREE, True),
    "UV": Variant(FREE, None, FREE),
}


class Part(NamedTuple):
    """An array of parameters with its constraint set; `joined` is a bias inside the same ball."""

    weight: nn.Parameter
    constraint: str
    over: int | None = None  # neuron balls: the axis that is summed over
    joined: nn.Parameter | None = None


class _Arrays(nn.Module):
    """The arrays of one layer, so that names are those of the engine: U.weight, U.bias."""

    def __init__(self, shape, bias: bool, device=None, dtype=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape, device=device, dtype=dtype))
        size = shape[0] if isinstance(shape, tuple) else shape
        self.bias = nn.Parameter(torch.zeros(size, device=device, dtype=dtype)) if bias else None


class UDVLinear(nn.Module):
    """y = V diag(w) U x with |U|_F <= 1, |V|_F <= 1, w >= 0: a drop-in for `nn.Linear`.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool or 'constant', default False
        Biases of both layers; 'constant': a constant feature, whose weights share the ball of U.
    width : int, optional
        Hidden neurons; default: min(in_features, out_features).
    variant : str, default 'UDV'
        A name of the engine: UDV, UDV-ReLU, UDV-s, UDV-v1, UV, ...

    The names in `state_dict()` are those of model.safetensors: U.weight (width x in), D.weight
    (width), V.weight (out x width), U.bias, V.bias.
    """

    def __init__(self, in_features, out_features, bias=False, width=None, variant="UDV",
                 device=None, dtype=None):
        super().__init__()
        if variant not in VARIANTS:
            raise ValueError(f"variant: {variant!r} found, one of {', '.join(VARIANTS)} expected")
        if bias not in (False, True, "constant"):
            raise ValueError(f"bias: {bias!r} found, False, True or 'constant' expected")
        width = min(in_features, out_features) if width is None else width
        for name, size in (("in_features", in_features), ("out_features", out_features),
                           ("width", width)):
            if int(size) < 1:
                raise ValueError(f"{name}: {size} found, at least 1 expected")
        self.in_features, self.out_features, self.width = in_features, out_features, width
        self.variant, self.bias = variant, bias
        how = {"device": device, "dtype": dtype}
        self.U = _Arrays((width, in_features), bool(bias), **how)
        if VARIANTS[variant].D is not None:
            self.D = _Arrays(width, False, **how)
        self.V = _Arrays((out_features, width), bias is True, **how)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform weights as nn.Linear has them, w = 1, then the constraint sets."""
        with torch.no_grad():
            for layer in (self.U, self.V):
                bound = 1 / math.sqrt(layer.weight.shape[1])
                layer.weight.uniform_(-bound, bound)
                if layer.bias is not None:
                    layer.bias.uniform_(-bound, bound)
            if hasattr(self, "D"):
                self.D.weight.fill_(1)
        self.project()

    def forward(self, x):
        if x.shape[-1] != self.in_features:
            raise ValueError(f"UDVLinear: {x.shape[-1]} features found, {self.in_features} "
                             "expected")
        relu = VARIANTS[self.variant].relu
        W = self.V.weight
        hidden = nn.functional.linear(x, self.U.weight, self.U.bias)
        if hasattr(self, "D"):
            # Into the smaller neighbour where that is less work.
            if not relu and x.numel() >= self.in_features * self.out_features:
                W = W * self.D.weight
            else:
                hidden = hidden * self.D.weight
        return nn.functional.linear(torch.relu(hidden) if relu else hidden, W, self.V.bias)

    def udv_parts(self):
        """The arrays with their constraint sets, for projections and relative steps."""
        sets = VARIANTS[self.variant]
        joined = self.U.bias if self.bias == "constant" else None
        yield Part(self.U.weight, sets.U, 1, joined)
        if hasattr(self, "D"):
            yield Part(self.D.weight, sets.D)
        yield Part(self.V.weight, sets.V, 0)

    @torch.no_grad()
    def project(self) -> None:
        """Puts every array back into its constraint set."""
        for part in self.udv_parts():
            _project(part)

    # ---- spectra and sizes

    def spectrum(self) -> torch.Tensor:
        """Singular values of diag(w) U, largest first."""
        return torch.linalg.svdvals(self._representation())

    def _representation(self) -> torch.Tensor:
        U = self.U.weight.detach().double()
        return self.D.weight.detach().double()[:, None] * U if hasattr(self, "D") else U

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One dense layer with the same function."""
        if VARIANTS[self.variant].relu:
            raise ValueError(f"merged: a {self.variant} block is not linear")
        V = self.V.weight.double()
        W = V @ self._representation()
        linear = nn.Linear(self.in_features, self.out_features, bias=bool(self.bias),
                           device=self.V.weight.device, dtype=self.V.weight.dtype)
        linear.weight.copy_(W)
        if self.bias:
            inner = self.U.bias.double()
            inner = inner * self.D.weight.double() if hasattr(self, "D") else inner
            linear.bias.copy_(V @ inner + (0 if self.V.bias is None else self.V.bias.double()))
        return linear

    @classmethod
    @torch.no_grad()
    def from_linear(cls, linear: nn.Linear, width=None, variant="UDV") -> UDVLinear:
        """A dense layer by its SVD, with equal w and both norms 1: the same function at full width,
        the best one of its rank otherwise."""
        if VARIANTS[variant].relu:
            raise ValueError(f"variant: a {variant} block is not linear, a dense layer cannot "
                             "become one")
        W = linear.weight.detach()
        P, s, Qt = torch.linalg.svd(W.double(), full_matrices=False)
        full = min(W.shape)
        if width is not None and not 1 <= width <= full:
            raise ValueError(f"width: {width} found, 1 to {full} expected")
        r = full if width is None else width
        block = cls(W.shape[1], W.shape[0], bias=linear.bias is not None, width=r, variant=variant,
                    device=W.device, dtype=W.dtype)
        block._share(Qt[:r], P[:, :r], s[:r])
        if linear.bias is not None:
            block.U.bias.zero_()
            block.V.bias.copy_(linear.bias)
        block.train(linear.training)
        return block

    def _share(self, directions, outputs, sizes) -> None:
        """U, w and V of sum_j sizes_j outputs_j directions_j with unit vectors on both sides."""
        if not hasattr(self, "D"):
            root = sizes.sqrt()
            self.U.weight.copy_(root[:, None] * directions)
            self.V.weight.copy_(outputs * root)
            return
        if VARIANTS[self.variant].U == NEURON_BALLS:
            share, w = torch.ones_like(sizes), sizes
        else:
            w = sizes.sum().clamp_min(1e-300).expand_as(sizes)
            share = (sizes / w).sqrt()
        self.U.weight.copy_(share[:, None] * directions)
        self.D.weight.copy_(w)
        self.V.weight.copy_(outputs * share)

    @torch.no_grad()
    def pruned(self, rank=None, energy=None) -> UDVLinear:
        """The block with fewer neurons: by the SVD of diag(w) U where it is linear, else those with
        the largest w |u| |v|. Either so many, or as many as carry this share of the energy."""
        if (rank is None) == (energy is None):
            raise ValueError("prune: one of rank and energy expected")
        linear = not VARIANTS[self.variant].relu
        U, V = self._representation(), self.V.weight.detach().double()
        if self.bias:
            inner = self.U.bias.detach().double()
            inner = inner * self.D.weight.detach().double() if hasattr(self, "D") else inner
            U = torch.cat([U, inner[:, None]], dim=1)
        if linear:
            P, s, Qt = torch.linalg.svd(U, full_matrices=False)
            V, order = V @ P, None
        else:
            s = U[:, :self.in_features].norm(dim=1) * V.norm(dim=0)
            order = s.argsort(descending=True, stable=True)
            s = s[order]
        count = _kept(s, rank, energy)
        block = UDVLinear(self.in_features, self.out_features, bias=self.bias, width=count,
                          variant=self.variant, device=self.U.weight.device,
                          dtype=self.U.weight.dtype)
        if linear:
            block._take(Qt[:count], V[:, :count], s[:count])
        else:
            block._choose(self, order[:count])
        if self.V.bias is not None:
            block.V.bias.copy_(self.V.bias)
        return block.train(self.training)

    def _take(self, directions, outputs, sizes) -> None:
        norms = outputs.norm(dim=0).clamp_min(1e-300)
        if not hasattr(self, "D"):
            self.U.weight.copy_(sizes[:, None] * directions[:, :self.in_features])
            self.V.weight.copy_(outputs)
            share = sizes
        else:
            self._share(directions[:, :self.in_features], outputs / norms, sizes * norms)
            w = self.D.weight.double().clamp_min(1e-300)
            share = (sizes * norms / w).sqrt() if VARIANTS[self.variant].U != NEURON_BALLS \
                else torch.ones_like(sizes)
        if self.bias:
            self.U.bias.copy_(share * directions[:, self.in_features])

    def _choose(self, other: UDVLinear, which) -> None:
        self.U.weight.copy_(other.U.weight[which])
        self.V.weight.copy_(other.V.weight[:, which])
        if hasattr(self, "D"):
            self.D.weight.copy_(other.D.weight[which])
        if self.U.bias is not None:
            self.U.bias.copy_(other.U.bias[which])

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"width={self.width}, bias={self.bias}, variant={self.variant}")


def _kept(sizes, rank, energy) -> int:
    if rank is not None:
        if rank < 1:
            raise ValueError(f"rank: {rank} found, at least 1 expected")
        return min(int(rank), sizes.numel())
    if not 0 < energy <= 1:
        raise ValueError(f"energy: {energy} found, a share above 0 and up to 1 expected")
    cumulated = (sizes**2).cumsum(0)
    return min(int((cumulated < energy * cumulated[-1] * (1 - 1e-12)).sum()) + 1, sizes.numel())


def _norm(W, over=None):
    kind = W.dtype if W.dtype in (torch.float32, torch.float64) else torch.float32
    axes = tuple(range(W.dim())) if over is None else over
    return torch.linalg.vector_norm(W, 2, dim=axes, keepdim=True, dtype=kind)


def _project(part: Part) -> None:
    W = part.weight.detach()
    if part.constraint == NONNEGATIVE:
        W.clamp_min_(0)
    elif part.constraint == NEURON_BALLS and part.joined is None:
        W.div_(_norm(W, part.over).clamp_min_(1))
    elif part.constraint == NEURON_BALLS:
        bias = part.joined.detach()
        norm = (_norm(W, part.over)[:, 0] ** 2 + bias**2).sqrt().clamp_min_(1)
        W.div_(norm[:, None])
        bias.div_(norm)
    elif part.constraint == BALL:
        norm = _norm(W).reshape(())
        if part.joined is not None:
            norm = (norm**2 + _norm(part.joined.detach()).reshape(()) ** 2).sqrt()
        norm = norm.clamp_min(1)
        W.div_(norm)
        if part.joined is not None:
            part.joined.detach().div_(norm)


def blocks(model: nn.Module):
    """(name, module) of all modules with constraint sets."""
    return [(name, module) for name, module in model.named_modules()
            if hasattr(module, "udv_parts")]


@torch.no_grad()
def project(model: nn.Module) -> None:
    """Puts all blocks of a model back into their constraint sets."""
    for _, module in blocks(model):
        for part in module.udv_parts():
            _project(part)


def project_after_steps(optimizer, model: nn.Module):
    """Projects the blocks of a model after every step of any optimizer; returns the optimizer."""
    if hasattr(optimizer, "register_step_post_hook"):
        optimizer.register_step_post_hook(lambda *_: project(model))
        return optimizer
    plain = optimizer.step

    def step(*args, **kwargs):
        result = plain(*args, **kwargs)
        project(model)
        return result

    optimizer.step = step
    return optimizer


def convert(model: nn.Module, pattern="*", width=None, variant="UDV") -> list:
    """Replaces every nn.Linear whose name fits the pattern by a UDVLinear with its weights (SVD).

    width : neurons at most; default: full, which keeps the function.
    Returns the names that were replaced.
    """
    wanted = [(name, module) for name, module in model.named_modules()
              if type(module) is nn.Linear and fnmatch.fnmatchcase(name, pattern)]
    for name, module in wanted:
        full = min(module.weight.shape)
        new = UDVLinear.from_linear(module, None if width is None else min(width, full), variant)
        _replace(model, name, new)
    return [name for name, _ in wanted]


def _replace(model: nn.Module, name: str, new: nn.Module) -> None:
    if not name:
        raise ValueError("model: a single layer found, a module that holds it expected")
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, new)


def prune(model: nn.Module, rank=None, energy=None, pattern="*") -> dict:
    """Makes the UDVLinear blocks whose names fit smaller: so many neurons each, or as many as carry
    this share of the energy. Returns the neurons that each has kept."""
    kept = {}
    for name, module in list(model.named_modules()):
        if isinstance(module, UDVLinear) and fnmatch.fnmatchcase(name, pattern):
            smaller = module.pruned(rank=rank, energy=energy)
            _replace(model, name, smaller)
            kept[name] = smaller.width
    return kept


def start_weight(loss, gradient) -> float:
    """w0 = L0 / ||G0||_2 for relative steps: the loss of the outputs 0, and its gradient in the
    product matrix W there. A lower bound of the nuclear norm that W needs; double it for a ReLU."""
    norm = float(torch.linalg.matrix_norm(torch.as_tensor(gradient).double(), 2))
    w = float(loss) / norm if norm > 0 else math.inf
    return w if math.isfinite(w) and w > 0 else 1.0


class RelativeAdam(torch.optim.Optimizer):
    """Adam whose steps are measured by the size of what they change, then the projections.

    With m, v the bias-corrected moments and d = m / (sqrt(v) + eps):
      U, V   M -= lr d / sqrt(entries of the ball): a full step has the Frobenius length lr
      w      w -= lr mean(w) d, mean(w) before the step
      other  p -= lr_other d
    One learning rate serves every width and rank.

    Parameters
    ----------
    model : nn.Module
        All its parameters that need gradients; those of UDV blocks take relative steps.
    lr : float, optional
        Constant, for a schedule of your own; default: 0.575 / sqrt(t + 100) at step t = 0, 1, ...
    lr_other : float, default 1e-3
        Of parameters outside of blocks.
    average : bool, default False
        Keep the running average of all parameters, A_mean += 9 / (t + 9) (A - A_mean): what to
        evaluate and save, see `averaged()`.
    project : bool, default True
        Project the blocks after each step.
    """

    def __init__(self, model, lr=None, betas=(0.9, 0.999), eps=1e-12, lr_other=1e-3, average=False,
                 project=True):
        if lr is not None and not lr > 0:
            raise ValueError(f"lr: {lr} found, a positive number expected")
        self._parts = [part for _, module in blocks(model) for part in module.udv_parts()]
        self._average, self._project = average, project
        super().__init__(_groups(model, self._parts, lr, lr_other), {"betas": betas, "eps": eps})
        self._auto = lr is None
        self._steps = 0

    def _rate(self, group) -> float:
        if group["kind"] == "other" or not self._auto:
            return group["lr"]
        return 0.575 / math.sqrt(self._steps + 100)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            rate = self._rate(group)
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, group, rate)
        if self._project:
            for part in self._parts:
                _project(part)
        if self._average:
            self._update_average()
        self._steps += 1
        return loss

    def _move(self, p, group, rate: float) -> None:
        state, (beta1, beta2) = self.state[p], group["betas"]
        if "exp_avg" not in state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        state["step"] += 1
        m, v = state["exp_avg"], state["exp_avg_sq"]
        m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
        v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
        first = 1 - beta1 ** state["step"]
        second = math.sqrt(1 - beta2 ** state["step"])
        scale = group["scale"] if group["kind"] != "gain" else p.mean()
        direction = m / (v.sqrt() / second + group["eps"])
        p.sub_(direction * (rate / first * scale))

    def _update_average(self) -> None:
        share = 9 / (self._steps + 9)
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("average", p.detach().clone())
                mean.add_(p.detach() - mean, alpha=share)

    def averaged(self):
        """A context in which the model has its averaged weights."""
        return _Averaged(self)

    def state_dict(self):
        return {**super().state_dict(), "udv_steps": self._steps}

    def load_state_dict(self, state):
        self._steps = state.get("udv_steps", 0)
        super().load_state_dict({k: v for k, v in state.items() if k != "udv_steps"})


def _groups(model, parts, lr, lr_other) -> list:
    groups, seen = [], set()
    rate = 0.0575 if lr is None else lr

    def add(parameters, kind, scale, lr):
        wanted = [p for p in parameters if p.requires_grad and id(p) not in seen]
        seen.update(id(p) for p in wanted)
        if wanted:
            groups.append({"params": wanted, "kind": kind, "scale": scale, "lr": lr})

    for part in parts:
        if part.weight.dim() == 1:
            add([part.weight], "gain", 1.0, rate)
            continue
        entries = part.weight.numel() + (0 if part.joined is None else part.joined.numel())
        if part.constraint == NEURON_BALLS:
            entries //= part.weight.shape[1 - part.over]
        add([p for p in (part.weight, part.joined) if p is not None], "matrix",
            1 / math.sqrt(entries), rate)
    for _, module in blocks(model):  # biases outside of balls move as matrices do
        for p in module.parameters():
            add([p], "matrix", 1 / math.sqrt(p.numel()), rate)
    add(model.parameters(), "other", 1.0, lr_other)
    return groups


class _Averaged:
    """Exchanges parameters and their averages, and back."""

    def __init__(self, optimizer: RelativeAdam):
        self.optimizer = optimizer

    @torch.no_grad()
    def _exchange(self, *_) -> None:
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                mean = self.optimizer.state[p].get("average")
                if mean is None:
                    continue
                now = p.detach().clone()
                p.copy_(mean)
                mean.copy_(now)

    __enter__ = _exchange

    def __exit__(self, *_) -> None:
        self._exchange()
