# SPDX-License-Identifier: MIT
"""The paper's loop on a Fourier ptychography problem in NumPy and SciPy: time per iteration.

usage: ptycho_loop.py PROBLEM.npz udu|bm ITERATIONS [COLUMNS]
The file holds amplitudes (L x m1 x n1), windows (L x 2, upper left corners in the centred
spectrum), pupil (m1 x n1) and size (2, of the image). Written in three ways: as in the paper, with
columns that are images; with columns that are spectra, all images at once; and image by image
(which stays in the cache). Single precision, two threads.
Prints one line per way: peer, way, microseconds per iteration, objective.

Where columns of U are spectra, no transform of the image is needed. With psi_lc the image of
column c under LED l, by a unitary transform of pupil * window_l(u_c), and z_l = sum_c d_c
|psi_lc|^2 - b_l, the gradient is G u_c = sum_l place_l(conj(pupil) * transform(z_l psi_lc)).
udu: U <- P(U - eta 2 G U D), d <- max(d - eta Re diag(U* G U), 0); bm: d = 1, no projection.
Spectra stay centred: that multiplies psi by signs alone, which cancel.
"""
import sys
import time

import numpy as np
from scipy.fft import fft2, ifft2

WORKERS = 2
ETA, ALPHA, NORM_B = 0.1, 1.0, 2.0


class Problem:
    def __init__(self, path):
        with np.load(path) as file:
            b = np.square(file["amplitudes"].astype(np.float64))
            self.b = (b * (NORM_B / np.linalg.norm(b))).astype(np.float32)
            self.pupil = file["pupil"].astype(np.complex64)
            self.size = tuple(int(n) for n in file["size"])
            corners = file["windows"].astype(int)
        rows, cols = self.pupil.shape
        self.windows = [np.s_[:, r : r + rows, c : c + cols] for r, c in corners]
        # The adjoint is zero outside the pupil: only its bounding box is added.
        (top, bottom), (left, right) = (
            (used[0], used[-1] + 1)
            for used in (np.flatnonzero(self.pupil.any(axis=axis)) for axis in (1, 0))
        )
        self.box = np.s_[..., top:bottom, left:right]
        self.conj_pupil = np.conj(self.pupil)[self.box].copy()
        self.boxes = [
            np.s_[:, r + top : r + bottom, c + left : c + right] for r, c in corners
        ]

    def start(self, columns, seed=0):
        parts = np.random.default_rng(seed).standard_normal((columns, *self.size, 2))
        U = parts.astype(np.float32).view(np.complex64)[..., 0]
        return U / np.linalg.norm(U), np.ones(columns, np.float32)


def intensities(psi, d, squares):
    """sum_c d_c |psi_c|^2 over the third last axis; squares is scratch of the size of psi."""
    parts = psi.view(np.float32)
    np.square(parts, out=squares)
    sums = d @ squares.reshape(*psi.shape[:-2], -1)
    return (sums[..., ::2] + sums[..., 1::2]).reshape(*psi.shape[:-3], *psi.shape[-2:])


class AsWritten:
    """Columns are images: their spectra, then windows of them, and all the way back."""

    def __init__(self, problem, columns):
        self.problem = problem

    def gradient(self, U, d, G):
        p = self.problem
        spectra = fft2(U, norm="ortho", workers=WORKERS)
        psi = ifft2(
            np.stack([p.pupil * spectra[window] for window in p.windows]), norm="ortho", workers=WORKERS
        )
        z = np.einsum("c,lcij->lij", d, np.abs(psi) ** 2) - p.b
        back = np.conj(p.pupil) * fft2(z[:, None] * psi, norm="ortho", workers=WORKERS)
        sums = np.zeros_like(spectra)
        for window, part in zip(p.windows, back):
            sums[window] += part
        G[...] = ifft2(sums, norm="ortho", workers=WORKERS)
        return 0.5 * float(np.vdot(z, z))


class AllAtOnce:
    """One batch of transforms over all images and columns."""

    def __init__(self, problem, columns):
        self.problem = problem
        shape = (len(problem.windows), columns, *problem.pupil.shape)
        self.psi = np.empty(shape, np.complex64)
        self.squares = np.empty((*shape[:-1], 2 * shape[-1]), np.float32)

    def gradient(self, U, d, G):
        p = self.problem
        for window, out in zip(p.windows, self.psi):
            np.multiply(U[window], p.pupil, out=out)
        psi = ifft2(self.psi, norm="ortho", overwrite_x=True, workers=WORKERS)
        z = intensities(psi, d, self.squares) - p.b
        psi *= z[:, None]
        back = fft2(psi, norm="ortho", overwrite_x=True, workers=WORKERS)[p.box]
        back *= p.conj_pupil
        G[...] = 0
        for box, part in zip(p.boxes, back):
            G[box] += part
        return 0.5 * float(np.vdot(z, z))


class ImageByImage:
    """Batches over the columns of one image."""

    def __init__(self, problem, columns):
        self.problem = problem
        self.psi = np.empty((columns, *problem.pupil.shape), np.complex64)
        self.squares = np.empty((*self.psi.shape[:-1], 2 * self.psi.shape[-1]), np.float32)

    def gradient(self, U, d, G):
        p = self.problem
        G[...] = 0
        objective = 0.0
        for window, box, b in zip(p.windows, p.boxes, p.b):
            np.multiply(U[window], p.pupil, out=self.psi)
            psi = ifft2(self.psi, norm="ortho", overwrite_x=True, workers=WORKERS)
            z = intensities(psi, d, self.squares) - b
            psi *= z
            back = fft2(psi, norm="ortho", overwrite_x=True, workers=WORKERS)[p.box]
            back *= p.conj_pupil
            G[box] += back
            objective += 0.5 * float(np.vdot(z, z))
        return objective


def run(peer, U, d, diagonal, iterations):
    """Updates U and d in place; returns the objective before the last step."""
    G = np.empty_like(U)
    flat_u, flat_g = (x.reshape(len(d), -1).view(np.float32) for x in (U, G))
    for _ in range(iterations):
        objective = peer.gradient(U, d, G)
        if not diagonal:
            G *= 2 * ETA
            U -= G
            continue
        slope = np.einsum("cs,cs->c", flat_u, flat_g)
        flat_g *= (2 * ETA * d)[:, None]
        U -= G
        norm = np.sqrt(np.vdot(flat_u, flat_u))
        if norm > ALPHA:
            U *= np.float32(ALPHA / norm)
        np.maximum(d - ETA * slope, 0, out=d)
    return objective


WAYS = {"as written": AsWritten, "all at once": AllAtOnce, "image by image": ImageByImage}


def main():
    path, method, iterations = sys.argv[1], sys.argv[2], int(sys.argv[3])
    columns = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    problem = Problem(path)
    for name, way in WAYS.items():
        peer = way(problem, columns)
        run(peer, *problem.start(columns), method == "udu", 2)
        U, d = problem.start(columns)
        begin = time.perf_counter()
        objective = run(peer, U, d, method == "udu", iterations)
        micros = (time.perf_counter() - begin) / iterations * 1e6
        print(f"numpy,{name},{micros:.2f},{objective:.6e}")


if __name__ == "__main__":
    main()
