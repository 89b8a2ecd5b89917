# SPDX-License-Identifier: MIT
"""Captures that udv's own simulator does not make, through the command line: udv ptycho with all defaults.

Here samples are larger than the field, light is a spherical wave, LEDs have a size, camera pixels an area, and the setup
is wrong in the way that CASES says. The error is that of the middle of the image after scale, phase, shift, tilt and
parabola, none of which images tell.

usage: captures.py UDV [FOLDER] [seeds=1] [first=0] [only=WORD] [right=1]
    FOLDER keeps captures and runs; right=1 runs each case with a setup that is right, too: what the geometry costs
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import fft, ndimage, optimize

SIDE, FINE, ROOM = 64, 4, 2  # pixels of an image; samples of the object per pixel; its size against that of the field
WAVELENGTH, PIXEL, NA = 0.53e-3, 1.845e-3, 0.1  # millimetres
PITCH, DISTANCE, REACH = 3.5, 86.0, 4  # of the LEDs, 9 x 9
LED_SIZE = 0.1

# What a case changes: of the sample, of the instrument (`true`, which the setup does not know), of the camera.
CASES = {
    "clean": {},
    "aberrated": {"aberration": 1.0},
    "weak phase": {"sample": "weak"},
    "sharp bars": {"sample": "bars"},
    "texture": {"sample": "texture"},
    "resolution target, 8 bits": {"sample": "target", "bits": 8},
    "resolution target, 8 bits, 4 %, 0.5 mm": {"sample": "target", "bits": 8, "distance": 1.04, "offset": (0.3, -0.4)},
    "5 degrees, 6 %, 0.8 mm": {"rotation": 5, "distance": 1.06, "offset": (0.8, 0)},
    "the same, mirrored": {"rotation": 5, "distance": 1.06, "offset": (0.8, 0), "mirrored": True},
    "offset 2.9 mm, aberrated": {"offset": (2.4, 1.6), "aberration": 1.0},
    "weak phase, 4 degrees, 5 %, 0.6 mm": {"sample": "weak", "rotation": 4, "distance": 0.95, "offset": (0, 0.6)},
    "texture, 6 degrees, 5 %": {"sample": "texture", "rotation": -6, "distance": 0.95},
    "LEDs 0.25 mm off at random": {"jitter": 0.25},
    "NA 10 % smaller": {"na": 0.9},
    "defocus 60 um unknown": {"defocus": 0.06},
    "defocus -100 um unknown": {"defocus": -0.1},
    "defocus 60 um, setup -60": {"defocus": 0.06, "said_defocus": -0.06},
    "dark exposure x 5": {"dark_exposure": 5.0},
    "dark exposure x 0.2": {"dark_exposure": 0.2},
    "200 counts": {"counts": 200},
    "weak phase, 200 counts": {"sample": "weak", "counts": 200},
    "background 1 %, LEDs +-20 %": {"background": 0.01, "spread": 0.2},
    "20 hot, 20 dead pixels": {"bad": 20},
    "5 % saturated, 8 bits": {"saturated": 0.05, "bits": 8},
    "all": {"rotation": 5, "distance": 1.06, "offset": (0.8, 0), "aberration": 0.7, "defocus": 0.03, "background": 0.01,
            "spread": 0.15, "bad": 15, "counts": 2000, "bits": 12},
}


def sample_of(kind, random):
    """Amplitude and phase on a grid of SIDE * FINE * ROOM samples a side."""
    side = SIDE * FINE * ROOM
    rows, cols = np.mgrid[:side, :side]
    density, delay = np.zeros((side, side)), np.zeros((side, side))
    if kind == "texture":
        noise = random.normal(size=(2, side, side))
        density = 0.25 * _unit(ndimage.gaussian_filter(noise[0], 6, mode="wrap"))
        delay = 0.6 * _unit(ndimage.gaussian_filter(noise[1], 8, mode="wrap"))
    elif kind == "bars":
        for _ in range(60):
            top, left, width = random.integers(0, side, 2).tolist() + [int(random.integers(6, 24))]
            for k in range(3):
                part = np.s_[top:top + 5 * width, left + 2 * k * width:left + (2 * k + 1) * width]
                density[part if random.random() < 0.5 else part[::-1]] = 1.2
        density, delay = ndimage.gaussian_filter(density, 1), 0.2 * density
    elif kind == "target":
        # Columns of elements, three bars each way, smaller and smaller: chrome on glass.
        for left in (side // 4 - 40, side // 2 - 60, 3 * side // 4 - 80):
            top, left = (int(v) for v in (random.integers(side // 5, side // 4), left + random.integers(-20, 20)))
            for size in (14, 11, 8, 6, 5, 4, 3):
                for k in range(3):
                    density[top + 2 * k * size:top + (2 * k + 1) * size, left:left + 5 * size] = 3.5
                    density[top:top + 5 * size, left + (6 + 2 * k) * size:left + (7 + 2 * k) * size] = 3.5
                top += 7 * size
        density = ndimage.gaussian_filter(density, 0.7)
    else:
        for _ in range(320):
            r, c = random.uniform(0, side, 2)
            size = FINE * (1 + 6 * random.random() * random.random())
            square = ((rows - r) ** 2 + (cols - c) ** 2) / size**2
            cell = 1 / (1 + np.exp(np.clip(3 * (np.sqrt(square) - 1) * size / FINE, -50, 50)))
            density += 0.4 * random.random() * cell
            delay += 1.2 * (random.random() - 0.3) * cell
        if kind == "weak":
            density, delay = 0.05 * density, 0.25 * delay
    return np.exp(-density + 1j * delay)


def _unit(field):
    return (field - field.mean()) / field.std()


def pupil_of(case, frequencies):
    fy, fx = frequencies
    na = NA * case.get("na", 1)
    y, x = fy * WAVELENGTH / na, fx * WAVELENGTH / na
    rho2 = x * x + y * y
    bend = case.get("aberration", 0) * ((x * x - y * y) + x * (3 * rho2 - 2) + rho2 * rho2)
    kz = 2 * np.pi * np.sqrt(np.maximum(0, 1 / WAVELENGTH**2 - fx**2 - fy**2))
    return np.where(rho2 <= 1, np.exp(1j * (bend + case.get("defocus", 0) * kz)), 0)


def places():
    return [(x, y) for y in range(-REACH, REACH + 1) for x in range(-REACH, REACH + 1)]


def led_position(case, led, random):
    x, y = led
    if case.get("mirrored"):
        x = -x
    jitter = case.get("jitter", 0) * random.normal(size=2)
    offset = np.array(case.get("offset", (0, 0)))
    place = PITCH * np.array([x, y]) + offset + jitter
    angle = np.deg2rad(case.get("rotation", 0))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turn @ place


def capture(case, seed):
    """Images (float64, before the setup sees them), the sample of the field."""
    random = np.random.default_rng([seed, 7])
    sample = sample_of(case.get("sample", "cells"), random)
    side, step = sample.shape[0], PIXEL / FINE
    along = (np.arange(side) - side // 2) * step
    y, x = np.meshgrid(along, along, indexing="ij")
    frequency = np.fft.fftfreq(side, step)
    pupil = pupil_of(case, np.meshgrid(frequency, frequency, indexing="ij")).astype(np.complex64)
    height = DISTANCE * case.get("distance", 1)
    middle = slice((side - SIDE * FINE) // 2, (side + SIDE * FINE) // 2)
    images = []
    for led in places():
        place, image = led_position(case, led, random), 0
        for sub in LED_SIZE * np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]):
            px, py = place + sub
            path = np.sqrt((x - px) ** 2 + (y - py) ** 2 + height**2)
            light = np.exp(2j * np.pi / WAVELENGTH * (path - np.sqrt(px * px + py * py + height**2)))
            field = fft.ifft2(pupil * fft.fft2((sample * light).astype(np.complex64)))
            image = image + np.abs(field).astype(float) ** 2 / 5
        # A camera pixel sums over its area.
        image = ndimage.uniform_filter(image, FINE, mode="wrap")[middle, middle][FINE // 2::FINE, FINE // 2::FINE]
        images.append(image * (1 + case.get("spread", 0) * random.uniform(-1, 1)))
    return spoiled(np.array(images), case, random), sample[middle, middle]


def spoiled(images, case, random):
    level = np.quantile(images.mean(axis=(1, 2)), 0.95)
    dark = images.mean(axis=(1, 2)) < 0.1 * level
    images[dark] *= case.get("dark_exposure", 1)
    images = images + case.get("background", 0) * level
    if counts := case.get("counts"):
        images = random.poisson(images * counts / level) * (level / counts)
    if share := case.get("saturated"):
        images = np.minimum(images, np.quantile(images[~dark], 1 - share))
    for value, count in ((1.5 * level, case.get("bad", 0)), (0, case.get("bad", 0))):
        places_ = random.integers(0, SIDE, (count, 2))
        images[:, places_[:, 0], places_[:, 1]] = value
    if bits := case.get("bits"):
        images = np.round(images / images.max() * (2**bits - 1))
    return images


def setup_text(case, right):
    """What the user says: nominal values, or the right ones."""
    known = case if right else {}
    offset = known.get("offset", (0, 0))
    defocus = 1e3 * (known.get("defocus", 0) if right else case.get("said_defocus", 0))
    return f"""[optics]
wavelength_nm = {1e6 * WAVELENGTH}
na = {NA * known.get("na", 1)}
sample_pixel_um = {1e3 * PIXEL}
led_pitch_mm = {PITCH}
led_distance_mm = {DISTANCE * known.get("distance", 1)}
rotation_degrees = {known.get("rotation", 0)}
x_offset_mm = {offset[0]}
y_offset_mm = {offset[1]}
defocus_um = {defocus}
orientation = "{"mirrored" if known.get("mirrored") else "plain"}"
[leds]
list = {json.dumps([list(p) for p in places()])}
[data]
variable = "images"
kind = "intensity"
image_axis = "first"
"""


def resized_spectrum(sample, side):
    """Of `sample` at side x side pixels."""
    first = (sample.shape[0] - side) // 2
    spectrum = np.fft.fftshift(np.fft.fft2(sample))
    spectrum = spectrum[first:first + side, first:first + side] if first >= 0 else np.pad(spectrum, -first)
    return np.fft.ifftshift(spectrum) * (side / sample.shape[0]) ** 2


def error(found, sample):
    """Of the middle, both at the resolution of `found`, after what images do not tell."""
    side = found.shape[0]
    # Light up to the NA of objective and LEDs together is what images show.
    frequency = np.fft.fftfreq(side, PIXEL * SIDE / side)
    shown = NA + PITCH * REACH / np.hypot(DISTANCE, PITCH * REACH)
    shown = np.hypot(*np.meshgrid(frequency, frequency)) < shown / WAVELENGTH
    truth = np.fft.ifft2(np.where(shown, resized_spectrum(sample, side), 0))
    found = np.fft.fft2(found)
    along = (np.arange(side) - side / 2) / side
    y, x = np.meshgrid(along, along, indexing="ij")
    inner = (abs(x) < 0.3) & (abs(y) < 0.3)
    f = np.fft.fftfreq(side) * side

    def aligned(p):
        moved = np.fft.ifft2(found * np.exp(2j * np.pi * (p[0] * f[:, None] + p[1] * f[None, :]) / side))
        return (moved * np.exp(1j * (p[2] * y + p[3] * x + p[4] * (x * x + y * y))))[inner]

    def loss(p):
        a, t = aligned(p), truth[inner]
        return np.sqrt(max(0, 1 - abs(np.vdot(a, t)) ** 2 / (np.vdot(a, a).real * np.vdot(t, t).real)))

    starts = [np.array([0, 0, 0, 0, bowl], float) for bowl in (0, -8, 8)]
    options = {"maxiter": 60, "xtol": 1e-3, "ftol": 1e-5}
    return min(optimize.minimize(loss, start, method="Powell", options=options).fun for start in starts)


def recover(udv, folder, case, images, sample, right):
    np.save(folder / "images.npy", images.astype(np.float32))
    (folder / "setup.toml").write_text(setup_text(case, right))
    out = folder / ("right" if right else "found")
    start = time.time()
    command = [udv, "ptycho", folder / "images.npy", "--setup", folder / "setup.toml", "--out", out, "--force",
               "--report", "off", "--quiet"]
    done = subprocess.run(command + (["--calibrate", "off"] if right else []), capture_output=True, text=True)
    seconds = time.time() - start
    if done.returncode not in (0, 4):
        return {"error": float("nan"), "seconds": seconds, "said": done.stderr.strip()}
    run = json.loads((out / "run.json").read_text())
    image = np.load(out / "x.npy")
    return {"error": error(image, sample), "seconds": seconds, "said": done.stderr.strip(), "run": run}


def main(udv, *words):
    options = {"seeds": "1", "first": "0", "only": "", "right": "0"}
    kept = [w for w in words if "=" not in w]
    options.update(w.split("=", 1) for w in words if "=" in w)
    with tempfile.TemporaryDirectory() as scratch:
        base = pathlib.Path(kept[0] if kept else scratch)
        print(f"{'case':<38} seed   error  right  seconds  residual  what the run said")
        for name, case in CASES.items():
            if options["only"] not in name:
                continue
            for seed in range(int(options["first"]), int(options["first"]) + int(options["seeds"])):
                folder = base / f"{name}-{seed}".replace(" ", "_").replace("%", "percent")
                folder.mkdir(parents=True, exist_ok=True)
                images, sample = capture(case, seed)
                np.save(folder / "truth.npy", sample)
                found = recover(udv, folder, case, images, sample, False)
                right = float("nan")
                if options["right"] != "0":
                    right = recover(udv, folder, case, images, sample, True)["error"]
                residual = found.get("run", {}).get("amplitude_residual", float("nan"))
                figures = f"{found['error']:.4f}  {right:.4f}  {found['seconds']:>6.1f}    {residual:.4f}"
                print(f"{name:<38} {seed:>4}  {figures}  {' | '.join(found['said'].splitlines())}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
