# SPDX-License-Identifier: MIT
"""The problem of a run of udv ptycho as one .npz file for ptycho_loop.py.

usage: ptycho_problem.py RUN_FOLDER DATA.mat OUT.npz
Images that the run held out are left out: windows.npy lists those it used, in the order of `leds`.
"""
import json
import sys

import numpy as np
from scipy.io import loadmat

folder, data, out = sys.argv[1:4]
with open(f"{folder}/run.json") as file:
    run = json.load(file)
windows = np.load(f"{folder}/windows.npy").astype(int)
pupil = np.load(f"{folder}/pupil.npy")
side = pupil.shape[0]
stack = loadmat(data)["imlow_HDR"]
first = (stack.shape[0] - side) // 2
crop = stack[first : first + side, first : first + side]
# Any choice of as many images has the same cost; the first ones are taken.
leds = [led - 1 for led in run["leds"]][: len(windows)]
size = np.load(f"{folder}/x.npy").shape
np.savez(out, amplitudes=np.moveaxis(crop[:, :, leds], 2, 0), windows=windows, pupil=pupil, size=size)
