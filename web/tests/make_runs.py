#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes up data and runs udv on them, one folder per run: completion, ptychography, training, sweep. Their pages are tested and shown in the docs.

usage: make_runs.py UDV FOLDER"""
import os
import shutil
import subprocess
import sys

import numpy as np

MICROSCOPE = """[optics]
wavelength_nm = 532
na = 0.1
sample_pixel_um = 1.8
led_pitch_mm = 4
led_distance_mm = 90
[leds]
order = "spiral"
[data]
variable = "images"
kind = "amplitude"
image_axis = "first"
"""
SWEEP = """data = "houses.csv"
target = "price"
preset = "paper"
epochs = 30
hidden = [32]
variants = ["UDV", "UDV-ReLU", "UV"]
optimizers = ["adam"]
learning-rates = [1e-3, 1e-2, 1e-1]
seeds = 2
"""


def ratings(path, draw):
    """A fifth of a 150 x 80 matrix of rank 3, with noise: who rated which film how."""
    truth = 3 + draw.normal(size=(150, 3)) @ draw.normal(size=(3, 80)) / 1.6
    with open(path, "w") as file:
        file.write("reader,book,rating\n")
        for row, col in zip(*np.nonzero(draw.random(truth.shape) < 0.2)):
            file.write(f"reader {row + 1},book {col + 1},{truth[row, col] + 0.1 * draw.normal():.2f}\n")


def houses(path, draw):
    """Prices that depend on size, age, a product of both and a district."""
    with open(path, "w") as file:
        file.write("size,age,rooms,district,price\n")
        for _ in range(1200):
            size, age, rooms, district = draw.uniform(40, 220), draw.uniform(0, 80), draw.integers(1, 9), draw.choice(["north", "south", "port"])
            price = 900 * size - 400 * age - 2.5 * size * age + 4000 * rooms + {"north": 0, "south": 15000, "port": 40000}[district]
            file.write(f"{size:.1f},{age:.0f},{rooms},{district},{price + 4000 * draw.normal():.0f}\n")


def spiral(count):
    """Places of LEDs: 1 step along +x, 1 along +y, 2 along -x, 2 along -y, and so on."""
    places, length, turn = [(0, 0)], 1, 0
    while len(places) < count:
        for _ in range(2):
            for _ in range(length):
                places.append((places[-1][0] + [1, 0, -1, 0][turn % 4], places[-1][1] + [0, 1, 0, -1][turn % 4]))
            turn += 1
        length += 1
    return places[:count]


def cells(size):
    """Round cells with grains that absorb a little and delay the light, size x size."""
    y, x = np.mgrid[:size, :size] / size
    field = np.exp(1j * 0.15 * np.random.default_rng(2).normal(size=(size, size)))
    for cx, cy, radius, depth in ((0.3, 0.3, 0.17, 1.1), (0.68, 0.25, 0.12, 0.8), (0.6, 0.66, 0.2, 1.3), (0.22, 0.74, 0.11, 0.9), (0.88, 0.55, 0.08, 0.7)):
        inside = np.clip((radius - np.hypot(x - cx, y - cy)) * size / 3, 0, 1)
        dimple = 1 - 0.55 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (0.35 * radius) ** 2)
        field *= (1 - 0.3 * inside * dimple) * np.exp(1j * depth * inside * dimple)
    return field


def microscope(path, draw):
    """49 amplitudes of 48 x 48 pixels of a 96 x 96 sample: |F^-1 (pupil * window of the spectrum)|, with 1 % noise."""
    low, high, pixel, wavelength = 48, 96, 1.8e-6, 532e-9
    spectrum = np.fft.fftshift(np.fft.fft2(cells(high))) / high
    frequency = (np.arange(low) - low // 2) / (low * pixel)
    pupil = np.hypot(*np.meshgrid(frequency, frequency)) <= 0.1 / wavelength
    images = []
    for x, y in spiral(49):
        distance = 4 * np.hypot(x, y)
        shift = distance / np.hypot(distance, 90) * low * pixel / wavelength
        col, row = (int(np.round((high - low) / 2 + shift * along)) for along in (np.cos(np.arctan2(y, x)), np.sin(np.arctan2(y, x))))
        images.append(np.abs(np.fft.ifft2(np.fft.ifftshift(pupil * spectrum[row:row + low, col:col + low])) * low / 2))
    images = np.array(images)
    np.savez(path, images=images * (1 + 0.01 * draw.normal(size=images.shape)))


def main(udv, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    draw = np.random.default_rng(1)
    ratings(f"{folder}/ratings.csv", draw)
    houses(f"{folder}/houses.csv", draw)
    microscope(f"{folder}/images.npz", draw)
    for name, text in (("microscope.toml", MICROSCOPE), ("sweep.toml", SWEEP)):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    for command in (["demo", "--out", "demo"], ["complete", "ratings.csv", "--holdout", "0.1", "--out", "completion"],
                    ["ptycho", "images.npz", "--setup", "microscope.toml", "--out", "ptychography"],
                    ["train", "houses.csv", "--target", "price", "--out", "training"], ["sweep", "sweep.toml", "--out", "sweep"]):
        found = subprocess.run([os.path.abspath(udv), *command, "--quiet"], cwd=folder)
        if found.returncode not in (0, 4):
            sys.exit(f"make_runs: udv {' '.join(command)} ended with {found.returncode}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
