#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Golden traces of projected gradient, in plain NumPy and independent of the library.

Writes a small symmetric and a small rectangular completion problem, their starting factors, and
the objectives of the first ten iterates of bm, udu, uv and udv from these starts:

  f(X) = 1/2 sum_t (X[i_t, j_t] - b_t)^2, constant step, all factors moved from the same point,
  udu: U <- P(U - step 2 G U D), d <- max(d - step diag(U^T G U), 0), G the symmetric part of the
  residual, P the projection onto |U|_F <= 1; udv: the same with G V D, G^T U D, diag(U^T G V);
  bm and uv: D = I, no constraint. Losses are those before each step.

Run:  /usr/bin/python3 make.py     (writes beside itself, in a second)
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
STEP = 0.125
RADIUS = 1.0
STEPS = 10
START_NORM = 0.9


def write(name, header, rows):
    lines = [header] + [",".join(repr(x) for x in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")


def problem(rng, rows, cols, rank, share, symmetric):
    """Entries of a random matrix of the given rank (indefinite where symmetric), |b| = 3."""
    U = rng.standard_normal((rows, rank))
    V = U * (-1) ** np.arange(rank) if symmetric else rng.standard_normal((cols, rank))
    X = U @ V.T
    places = [
        (i, j)
        for i in range(rows)
        for j in range(i if symmetric else 0, cols)
        if rng.random() < share
    ]
    b = np.array([X[i, j] for i, j in places])
    b *= 3 / np.linalg.norm(b)
    return places, b


def triplets(places, b):
    return [(i, j, float(value)) for (i, j), value in zip(places, b)]


def start(rng, rows, columns):
    U = rng.standard_normal((rows, columns))
    return U * (START_NORM / np.linalg.norm(U))


def start_weights(U, diagonal):
    """1, 1/2, 1/4, ...: some reach zero within ten steps."""
    columns = U.shape[1]
    return 0.5 ** np.arange(columns) if diagonal else np.ones(columns)


def into_ball(U):
    norm = np.linalg.norm(U)
    return U * (RADIUS / norm) if norm > RADIUS else U


def residual_matrix(places, b, X):
    R = np.zeros_like(X)
    for (i, j), value in zip(places, b):
        R[i, j] = X[i, j] - value
    return R


def symmetric_trace(places, b, U, diagonal):
    d = start_weights(U, diagonal)
    losses = []
    for _ in range(STEPS):
        R = residual_matrix(places, b, U @ np.diag(d) @ U.T)
        losses.append(0.5 * float(np.sum(R**2)))
        G = (R + R.T) / 2
        step_u = 2 * G @ U @ np.diag(d)
        step_d = np.diag(U.T @ G @ U)
        U = U - STEP * step_u
        if diagonal:
            U = into_ball(U)
            d = np.maximum(d - STEP * step_d, 0)
    return losses


def rectangular_trace(places, b, U, V, diagonal):
    d = start_weights(U, diagonal)
    losses = []
    for _ in range(STEPS):
        G = residual_matrix(places, b, U @ np.diag(d) @ V.T)
        losses.append(0.5 * float(np.sum(G**2)))
        step_u = G @ V @ np.diag(d)
        step_v = G.T @ U @ np.diag(d)
        step_d = np.diag(U.T @ G @ V)
        U, V = U - STEP * step_u, V - STEP * step_v
        if diagonal:
            U, V = into_ball(U), into_ball(V)
            d = np.maximum(d - STEP * step_d, 0)
    return losses


def main():
    rng = np.random.default_rng(20240607)
    square, b_square = problem(rng, 12, 12, 2, 0.8, True)
    U_square = start(rng, 12, 12)
    wide, b_wide = problem(rng, 12, 9, 2, 0.7, False)
    U_wide, V_wide = start(rng, 12, 9), start(rng, 9, 9)

    write("symmetric_entries.csv", "row,col,value", triplets(square, b_square))
    write("symmetric_u0.csv", "one row per row of U", U_square.tolist())
    write("rectangular_entries.csv", "row,col,value", triplets(wide, b_wide))
    write("rectangular_u0.csv", "one row per row of U", U_wide.tolist())
    write("rectangular_v0.csv", "one row per row of V", V_wide.tolist())
    traces = [
        symmetric_trace(square, b_square, U_square, False),
        symmetric_trace(square, b_square, U_square, True),
        rectangular_trace(wide, b_wide, U_wide, V_wide, False),
        rectangular_trace(wide, b_wide, U_wide, V_wide, True),
    ]
    write("losses.csv", "bm,udu,uv,udv", list(zip(*traces)))


if __name__ == "__main__":
    main()
