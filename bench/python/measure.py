# SPDX-License-Identifier: MIT
"""What the Python package costs, and its imputer beside scikit-learn's: the figures of docs/python.md.

usage: measure.py [costs] [memory] [imputers | imputers-large]
"""

import resource
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

import udv


def seconds_of(call, repeats=1):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def costs():
    code = "import time; t = time.perf_counter(); import udv; print(time.perf_counter() - t)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                    check=True).stdout) for _ in range(9)]
    print(f"import udv: {min(imports):.3f} s at best, {statistics.median(imports):.3f} s median")

    tiny = np.outer(np.arange(1.0, 4.0), np.arange(1.0, 4.0))
    tiny[0, 0] = np.nan
    rows, cols = np.nonzero(~np.isnan(tiny))
    over = []
    for _ in range(300):
        start = time.perf_counter()
        answer = udv.complete(tiny, center="none")
        over.append(time.perf_counter() - start - answer.facts["seconds"])
    print(f"a call over its solve: {1e6 * min(over):.0f} us at best, "
          f"{1e6 * statistics.median(over):.0f} us median (3 x 3 matrix, one keyword)")

    rng = np.random.default_rng(0)
    U = rng.normal(size=(100, 3))
    X = U @ U.T
    i, j = np.triu_indices(100)
    chosen = np.sort(rng.choice(i.size, 900, replace=False))
    entries = (i[chosen], j[chosen], X[i[chosen], j[chosen]])
    fig1 = seconds_of(lambda: udv.complete(entries, shape=(100, 100), symmetric=True), 50)
    answer = udv.complete(entries, shape=(100, 100), symmetric=True)
    error = np.linalg.norm(answer.matrix() - X) / np.linalg.norm(X)
    print(f"Fig. 1's problem: {1e3 * min(fig1):.1f} ms at best, "
          f"{1e3 * statistics.median(fig1):.1f} ms median; rank {answer.rank}, error {error:.0e}")


def memory():
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    A = np.zeros((2048, 256, 256))  # 1 GB
    A += 1 / 256
    A[:, 0, 0] = np.arange(2048) / 2048
    b = np.arange(2048) / 2048 + 1
    before = peak()
    warnings.simplefilter("ignore")
    udv.sense(A, b, polish="off", step=1e-9, max_iterations=2, max_rank=2)
    print(f"sense with A of {A.nbytes / 2**30:.1f} GB: peak memory {before:.2f} -> {peak():.2f} GB")
    del A
    X = np.full((8192, 16384), np.nan)  # 1 GB
    X[::64, ::64] = 1 + np.outer(np.arange(128), np.arange(256))
    before = peak()
    udv.complete(X, max_rank=3, time_limit=2)
    print(f"complete with X of {X.nbytes / 2**30:.1f} GB: peak memory {before:.2f} -> "
          f"{peak():.2f} GB")


def imputers(rows=500, columns=40, rank=5, seeds=5):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    from udv.sklearn import LowRankImputer

    warnings.simplefilter("ignore")
    print(f"{rows} x {columns}, rank {rank}, 30 % missing, {seeds} seeds: RMSE (seconds, CPU)")
    for noise in (0.01, 0.1, 0.3):
        line = []
        for make in (LowRankImputer, KNNImputer, IterativeImputer, SimpleImputer):
            errors, times, work = [], [], []
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                truth = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
                truth /= truth.std()
                hole = rng.random(truth.shape) < 0.3
                table = np.where(hole, np.nan, truth + noise * rng.normal(size=truth.shape))
                start, cpu = time.perf_counter(), time.process_time()
                filled = make().fit_transform(table)
                times.append(time.perf_counter() - start)
                work.append(time.process_time() - cpu)
                errors.append(np.sqrt(np.mean((filled - truth)[hole] ** 2)))
            line.append(f"{make.__name__} {np.mean(errors):.4f} +- {np.std(errors):.4f} "
                        f"({np.median(times):.2f}, {np.median(work):.2f})")
        print(f"noise {noise:.0%}: " + "; ".join(line), flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["costs", "memory", "imputers"]:
        {"costs": costs, "memory": memory, "imputers": imputers,
         "imputers-large": lambda: imputers(2000, 50)}[name]()
