# SPDX-License-Identifier: MIT
"""LoRA adapters with a diagonal and balls (LoRA-UDV) for Hugging Face's peft.

>>> model, callback = udv.peft.lora_udv(model, r=64)                   # doctest: +SKIP
>>> Trainer(model, ..., callbacks=[callback]).train()
>>> model.save_pretrained("adapter")        # a plain LoRA adapter: loads without udv
"""

from __future__ import annotations

import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.lora.layer import Linear as LoraLinear
from torch import nn
from transformers import TrainerCallback

from .torch import BALL, NONNEGATIVE, Part, project

__all__ = ["lora_udv", "ProjectionCallback", "UDVLora"]


class GainLinear(nn.Module):
    """x -> diag(w) A x with |A|_F <= 1 and w >= 0. Others see the product as `weight`: it is what
    files hold and what merging uses."""

    def __init__(self, A: torch.Tensor, gain: float):
        super().__init__()
        self.out_features, self.in_features = A.shape
        self.A = nn.Parameter(A / torch.linalg.vector_norm(A).clamp_min(1e-30))
        self.gain = nn.Parameter(torch.full((A.shape[0],), gain, dtype=A.dtype, device=A.device))
        self.bias = None
        self._register_state_dict_hook(_fold)
        self._register_load_state_dict_pre_hook(self._unfold)

    @property
    def weight(self) -> torch.Tensor:
        return self.gain[:, None] * self.A

    def forward(self, x):
        return nn.functional.linear(x, self.weight)

    def udv_parts(self):
        yield Part(self.A, BALL)
        yield Part(self.gain, NONNEGATIVE)

    def _unfold(self, state, prefix, *_):
        """A file has the product alone: one gain for all rows, the norm of A at its bound."""
        weight = state.pop(prefix + "weight", None)
        if weight is not None:
            size = torch.linalg.vector_norm(weight.float()).clamp_min(1e-30)
            state[prefix + "A"] = (weight.float() / size).to(weight.dtype)
            state[prefix + "gain"] = size.to(weight.dtype).expand(weight.shape[0]).clone()


def _fold(module, state, prefix, _):
    A, gain = state.pop(prefix + "A", None), state.pop(prefix + "gain", None)
    if A is not None and gain is not None:
        state[prefix + "weight"] = (gain[:, None] * A).detach()
    return state


class BallLinear(nn.Linear):
    """A dense layer with |B|_F <= 1."""

    def udv_parts(self):
        yield Part(self.weight, BALL)


class UDVLora(LoraLinear):
    """peft's LoRA layer with B diag(w) A: what `LoraConfig._register_custom_module` puts in the
    place of nn.Linear."""

    udv_gain = 1.0

    def update_layer(self, adapter_name, *args, **kwargs):
        super().update_layer(adapter_name, *args, **kwargs)
        A, B = self.lora_A[adapter_name], self.lora_B[adapter_name]
        self.lora_A[adapter_name] = GainLinear(A.weight.detach().clone(), self.udv_gain)
        ball = BallLinear(B.in_features, B.out_features, bias=B.bias is not None,
                          device=B.weight.device, dtype=B.weight.dtype)
        ball.load_state_dict(B.state_dict())
        self.lora_B[adapter_name] = ball


class ProjectionCallback(TrainerCallback):
    """Puts the adapters back into their balls after every step of transformers' Trainer."""

    def on_step_end(self, args, state, control, model=None, **kwargs):
        if model is not None:
            project(model)


def lora_udv(model, r=64, target_modules=None, gain=1.0, **config):
    """Adds LoRA-UDV adapters to a model of transformers.

    Parameters
    ----------
    r : int
        Columns; the rank that is used is found by training.
    target_modules : as in LoraConfig
    gain : float
        All w_j at the start.
    config : further fields of LoraConfig. lora_alpha is r, so that nothing else scales.

    Returns
    -------
    (peft model, callback for transformers' Trainer)
    """
    settings = LoraConfig(r=r, lora_alpha=config.pop("lora_alpha", r),
                          target_modules=target_modules, **config)
    layer = type("UDVLora", (UDVLora,), {"udv_gain": float(gain)})
    settings._register_custom_module({nn.Linear: layer})
    adapted = get_peft_model(model, settings)
    return adapted, ProjectionCallback()
