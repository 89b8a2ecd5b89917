# SPDX-License-Identifier: MIT
"""The paper's loop on a completion problem, in NumPy/SciPy and in PyTorch: time per iteration.

usage: paper_loop.py ENTRIES.csv METHOD numpy|torch ITERATIONS
Each peer is written the ways its users write it (dense gradient, sparse gradient); the fastest
counts. Entries are `row,col,value` lines, 1-based, upper triangle of a symmetric matrix.
Prints one line: peer, way, microseconds per iteration, objective.
"""
import sys
import time

import numpy as np


def read(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    i, j, b = table[:, 0].astype(int) - 1, table[:, 1].astype(int) - 1, table[:, 2]
    return max(i.max(), j.max()) + 1, i, j, b / np.linalg.norm(b)


def start(n, seed=0, norm=1e-2):
    U = np.random.default_rng(seed).standard_normal((n, n))
    return U * (norm / np.linalg.norm(U)), np.ones(n)


def numpy_dense(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """Gradient as a dense symmetric matrix, products by BLAS."""
    U, d = start(n)
    R = np.zeros((n, n))
    for _ in range(iterations):
        r = np.einsum("tc,tc->t", U[i] * d, U[j]) - b
        R[i, j] = r
        G = (R + R.T) * 0.5
        U, d = numpy_update(U, d, G @ U, diagonal, eta, alpha)
    return 0.5 * r @ r


def numpy_products(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """X as a dense product, entries read off it: two matrix products per step."""
    U, d = start(n)
    R = np.zeros((n, n))
    for _ in range(iterations):
        r = ((U * d) @ U.T)[i, j] - b
        R[i, j] = r
        G = (R + R.T) * 0.5
        U, d = numpy_update(U, d, G @ U, diagonal, eta, alpha)
    return 0.5 * r @ r


def numpy_sparse(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """Gradient as a sparse matrix whose values are replaced in each step."""
    from scipy.sparse import csr_matrix

    rows, cols = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort((cols, rows))
    entry = np.concatenate([np.arange(len(b))] * 2)[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    U, d = start(n)
    for _ in range(iterations):
        r = np.einsum("tc,tc->t", U[i] * d, U[j]) - b
        G = csr_matrix((0.5 * r[entry], cols[order], starts), shape=(n, n))
        U, d = numpy_update(U, d, G @ U, diagonal, eta, alpha)
    return 0.5 * r @ r


def numpy_update(U, d, GU, diagonal, eta, alpha):
    if not diagonal:
        return U - 2 * eta * GU, d
    step = np.einsum("ic,ic->c", U, GU)
    U = U - 2 * eta * GU * d
    norm = np.linalg.norm(U)
    if norm > alpha:
        U *= alpha / norm
    return U, np.maximum(d - eta * step, 0)


def torch_manual(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """Gradient by hand, dense."""
    import torch

    i, j, b = (torch.from_numpy(x) for x in (i, j, b))
    U, d = (torch.from_numpy(x) for x in start(n))
    R = torch.zeros(n, n, dtype=torch.float64)
    with torch.no_grad():
        for _ in range(iterations):
            r = ((U[i] * d) * U[j]).sum(1) - b
            R[i, j] = r
            U, d = torch_update(U, d, (R + R.T) @ U * 0.5, diagonal, eta, alpha)
    return 0.5 * float(r @ r)


def torch_products(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """X as a dense product, entries read off it, gradient by hand."""
    import torch

    i, j, b = (torch.from_numpy(x) for x in (i, j, b))
    U, d = (torch.from_numpy(x) for x in start(n))
    R = torch.zeros(n, n, dtype=torch.float64)
    with torch.no_grad():
        for _ in range(iterations):
            r = ((U * d) @ U.T)[i, j] - b
            R[i, j] = r
            U, d = torch_update(U, d, (R + R.T) @ U * 0.5, diagonal, eta, alpha)
    return 0.5 * float(r @ r)


def torch_autograd(n, i, j, b, diagonal, iterations, eta=0.1, alpha=1.0):
    """Gradient by automatic differentiation, as most PyTorch code would have it."""
    import torch

    i, j, b = (torch.from_numpy(x) for x in (i, j, b))
    U, d = (torch.from_numpy(x).requires_grad_(True) for x in start(n))
    for _ in range(iterations):
        r = ((U[i] * d) * U[j]).sum(1) - b
        loss = 0.5 * (r @ r)
        gU, gd = torch.autograd.grad(loss, (U, d))
        with torch.no_grad():
            U = U - eta * gU
            if diagonal:
                norm = torch.linalg.norm(U)
                if norm > alpha:
                    U *= alpha / norm
                d = torch.clamp(d - eta * gd, min=0)
        U.requires_grad_(True)
        d.requires_grad_(True)
    return float(loss)


def torch_update(U, d, GU, diagonal, eta, alpha):
    import torch

    if not diagonal:
        return U - 2 * eta * GU, d
    step = (U * GU).sum(0)
    U = U - 2 * eta * GU * d
    norm = torch.linalg.norm(U)
    if norm > alpha:
        U *= alpha / norm
    return U, torch.clamp(d - eta * step, min=0)


WAYS = {
    "numpy": {"dense": numpy_dense, "products": numpy_products, "sparse": numpy_sparse},
    "torch": {"by hand": torch_manual, "products": torch_products, "autograd": torch_autograd},
}


def main():
    path, method, peer, iterations = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    problem = read(path)
    if peer == "torch":
        import torch

        torch.set_num_threads(1)
    for way, loop in WAYS[peer].items():
        loop(*problem, method == "udu", 50)
        begin = time.perf_counter()
        objective = loop(*problem, method == "udu", iterations)
        micros = (time.perf_counter() - begin) / iterations * 1e6
        print(f"{peer},{way},{micros:.2f},{objective:.6e}")


main()
