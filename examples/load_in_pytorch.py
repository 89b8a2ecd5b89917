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
y = torch.nn.functional.linear(torch.nn.functional.linear(x.float(), W["U.weight"]) * W["D.weight"], W["V.weight"])
np.save(sys.argv[3], (y / torch.tensor(how["targets"]["factor"]) + torch.tensor(how["targets"]["offset"])).numpy())
