#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Golden values of the microscope's geometry, in plain NumPy and independent of the library.

Two cases: `bloodsmear`, the geometry of the blood smear data set, 41 LEDs of the spiral, images of
80 x 80; `tilted`, a turned and shifted raster of 7 x 5 LEDs under a thick slide, images of 48 x 65,
upsampling 3. For each:
  <case>_leds.csv   grid point, direction cosines, NA, corner of the window in the centred
                    spectrum, share of the LED's pupil that the pupils of all other LEDs cover
  <case>_pupil.csv  every 3rd row and 5th column of the pupil: row, col, real, imaginary part
Where a ray enters the slide is found by bisection: sin(glass) n = sin(air). Frequencies are those
of numpy.fft.

Run:  /usr/bin/python3 make.py     (writes beside itself, in a second)
"""
import pathlib
from types import SimpleNamespace

import numpy as np

HERE = pathlib.Path(__file__).parent
BLOODSMEAR = SimpleNamespace(
    wavelength=532e-9, na=0.1, pixel=1.845e-6, pitch=4.0, distance=90.88, thickness=1.0,
    index=1.52, rotation=0.0, x=0.0, y=0.35, defocus=1e-5, upsampling=2, rows=80, cols=80,
)
TILTED = SimpleNamespace(
    wavelength=633e-9, na=0.25, pixel=0.9e-6, pitch=5.0, distance=40.0, thickness=6.0,
    index=1.6, rotation=17.0, x=-1.25, y=0.5, defocus=-2e-5, upsampling=3, rows=48, cols=65,
)


def spiral(count):
    """Walks x+, y+, x-, y- with runs of 1, 1, 2, 2, 3, 3, ... steps."""
    points, directions = [(0, 0)], [(1, 0), (0, 1), (-1, 0), (0, -1)]
    for turn in range(count):
        dx, dy = directions[turn % 4]
        for _ in range(turn // 2 + 1):
            points.append((points[-1][0] + dx, points[-1][1] + dy))
    return points[:count]


def illumination_na(case, radius):
    """The ray enters the slide at distance `entry` from the axis and leaves it on the axis."""
    low, high = 0.0, radius
    for _ in range(200):
        entry = (low + high) / 2
        air = (radius - entry) / np.hypot(radius - entry, case.distance)
        if entry < np.hypot(entry, case.thickness) * air / case.index:
            low = entry
        else:
            high = entry
    return (radius - entry) / np.hypot(radius - entry, case.distance)


def cosines(case, point):
    z = np.exp(1j * np.radians(case.rotation))
    z *= case.x + point[0] * case.pitch + 1j * (case.y + point[1] * case.pitch)
    na, phi = illumination_na(case, abs(z)), np.angle(z)
    return -na * np.cos(phi), -na * np.sin(phi), na


def corner(case, size, cosine):
    """numpy.fft.fftshift puts frequency 0 at size // 2."""
    middle = np.flatnonzero(np.fft.fftshift(np.fft.fftfreq(size * case.upsampling)) == 0)[0]
    shift = -cosine * size * case.pixel / case.wavelength
    assert abs(abs(shift) % 1 - 0.5) > 1e-6, "a window on the edge between two samples"
    return middle + int(np.rint(shift)) - size // 2


def pupil(case):
    fy = np.fft.fftshift(np.fft.fftfreq(case.rows, case.pixel))[:, None]
    fx = np.fft.fftshift(np.fft.fftfreq(case.cols, case.pixel))[None, :]
    transverse = (2 * np.pi) ** 2 * (fx**2 + fy**2)
    k0 = 2 * np.pi / case.wavelength
    kz = np.sqrt(k0**2 - transverse + 0j)
    return (transverse <= (case.na * k0) ** 2) * np.exp(1j * case.defocus * kz)


def coverages(case, disc, corners):
    count = np.zeros((case.rows * case.upsampling, case.cols * case.upsampling), int)
    cut = [np.s_[r : r + case.rows, c : c + case.cols] for r, c in corners]
    for window in cut:
        count[window] += disc
    return [np.mean(count[window][disc] > 1) for window in cut]


def write(name, header, rows):
    lines = [header] + [",".join(repr(float(x)) for x in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")


def make(name, case, points):
    lights = [cosines(case, point) for point in points]
    corners = [(corner(case, case.rows, ky), corner(case, case.cols, kx)) for kx, ky, _ in lights]
    P = pupil(case)
    shares = coverages(case, P != 0, corners)
    rows = [(*p, *k, *c, s) for p, k, c, s in zip(points, lights, corners, shares)]
    write(f"{name}_leds.csv", "x,y,kx,ky,na,row,col,coverage", rows)
    places = [(r, c) for r in range(0, case.rows, 3) for c in range(0, case.cols, 5)]
    rows = [(r, c, P[r, c].real, P[r, c].imag) for r, c in places]
    write(f"{name}_pupil.csv", "row,col,real,imaginary", rows)


def main():
    make("bloodsmear", BLOODSMEAR, spiral(41))
    make("tilted", TILTED, [(x - 2, y - 3) for y in range(7) for x in range(5)])


if __name__ == "__main__":
    main()
