# SPDX-License-Identifier: MIT
"""Outputs of a UDV model in PyTorch, from model.safetensors alone: load_in_pytorch.py MODEL X.npy OUT.npy"""
import json, struct, sys

import numpy as np, torch

bytes_ = open(sys.argv[1], "rb").read()
length = struct.unpack("<Q", bytes_[:8])[0]
header = json.loads(bytes_[8 : 8 + length])
how = json.loads(header.pop("__metadata__")["preprocessing"])
W = {n: torch.frombuffer(bytearray(bytes_[8 + length :][slice(*t["data_offsets"])]), dtype=torch.float32).view(t["shape"]) for n, t in header.items()}
x = (torch.tensor(np.load(sys.argv[2])) - torch.tensor(how["features"]["offset"])) * torch.tensor(how["features"]["factor"])
if clip := how["features"].get("clip"):  # soft clipping; 0 where there is none
    x = x / torch.sqrt(1 + (x * torch.tensor([1 / c if c > 0 else 0.0 for c in clip])) ** 2)
y = torch.nn.functional.linear(x.float(), W["U.weight"], W.get("U.bias")) * W["D.weight"]
y = torch.nn.functional.linear(y, W["V.weight"], W.get("V.bias"))
np.save(sys.argv[3], (y / torch.tensor(how["targets"]["factor"]) + torch.tensor(how["targets"]["offset"])).numpy())
