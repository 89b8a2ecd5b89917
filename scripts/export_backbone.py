#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a torchvision model without its last layer as TorchScript: pictures (N x 3 x H x W, 0 to 1) to features (N x d).

usage: export_backbone.py MODEL OUT.pt [--weights FILE.pth | DEFAULT | random] [--size 224]
       export_backbone.py --list

MODEL is a name of torchvision.models (efficientnet_b0, maxvit_t, regnet_x_32gf, resnet50, ...). Weights: a state_dict in a file,
DEFAULT (torchvision downloads its own) or random. The normalisation that torchvision's weights expect is part of the file. Nothing
in it depends on a device or type; `udv finetune --backbone OUT.pt` takes it, frozen or with --trainable.
"""
import argparse
import sys

import torch
import torchvision


class Features(torch.nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))

    def forward(self, x):
        return self.body((x - self.mean) / self.std)


def names():
    models = torchvision.models
    return sorted(n for n in dir(models) if n.islower() and not n.startswith("_") and callable(getattr(models, n)) and "get" not in n)


def without_last_layer(model):
    """The last Linear becomes the identity; its inputs are the features."""
    linears = [(name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)]
    if not linears:
        sys.exit("export_backbone: this model has no linear layer at its end")
    name, last = linears[-1]
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, torch.nn.Identity())
    return last.in_features


def scripted(module, size):
    try:
        return torch.jit.script(module)
    except Exception as error:  # what cannot be compiled is recorded
        print(f"export_backbone: traced, as it cannot be compiled ({str(error).splitlines()[0]})", file=sys.stderr)
        return torch.jit.trace(module, torch.rand(2, 3, size, size), check_trace=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--weights", default="DEFAULT")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(names()))
        return
    if not options.model or not options.out:
        parser.error("MODEL and OUT.pt expected")
    if options.model not in names():
        parser.error(f"'{options.model}' found, a name that --list shows expected")
    make = getattr(torchvision.models, options.model)
    model = make(weights="DEFAULT") if options.weights == "DEFAULT" else make(weights=None)
    if options.weights not in ("DEFAULT", "random"):
        model.load_state_dict(torch.load(options.weights, map_location="cpu"))
    count = without_last_layer(model)
    module = Features(model).eval()
    with torch.no_grad():
        script = scripted(module, options.size)
        x = torch.rand(2, 3, options.size, options.size)
        difference = (script(x) - module(x)).abs().max().item()
    if script(x).shape != (2, count) or not difference <= 1e-3:
        sys.exit(f"export_backbone: features of shape {tuple(script(x).shape)}, difference {difference}")
    script.save(options.out)
    size = sum(p.numel() for p in model.parameters())
    print(f"{options.out}: {options.model}, {size} parameters, {count} features")


if __name__ == "__main__":
    main()
