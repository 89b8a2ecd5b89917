# SPDX-License-Identifier: MIT
"""Models of every variant, exported and loaded by others: check.py UDV_PROGRAM NODE_FOLDER

The outputs of ONNX Runtime, and of PyTorch by examples/load_in_pytorch.py, are compared with those of udv predict.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

VARIANTS = "UDV UDV-s UDV-v1 UDV-v2 UDV-unconstrained UDV-ReLU UDV-ReLU-s ReLU-constrained UFV UV-ReLU UV single".split()
ROWS, COLS, TOLERANCE = 90, 7, 1e-5
HERE = pathlib.Path(__file__).resolve().parent


def run(*words, **more):
    subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL, **more)


def predictions(path):
    with open(path) as file:
        return np.array([float(row["prediction"]) for row in csv.DictReader(file)])


def by_onnx(folder, model, X, node):
    onnx.checker.check_model(onnx.load(model), full_check=True)
    X.tofile(folder / "x.f32")
    run("node", HERE / "run_onnx.mjs", model, folder / "x.f32", ROWS, COLS, folder / "y.f32",
        env={**os.environ, "NODE_FOLDER": str(node)})
    return np.fromfile(folder / "y.f32", np.float32)


def main():
    udv, node = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    random = np.random.default_rng(1)
    X = random.normal(3, 2, (ROWS, COLS)).astype(np.float32)
    y = X @ random.normal(size=COLS) * 50 + 1000
    for variant in VARIANTS:
        for bias in ([], ["--bias"]):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                np.save(folder / "x.npy", X)
                np.save(folder / "y.npy", y)
                run(udv, "train", folder / "x.npy", "--targets", folder / "y.npy", "--scaling", "minmax",
                    "--variant", variant, *bias, "--epochs", 5, "--quiet", "--out", folder / "m")
                run(udv, "predict", folder / "m", folder / "x.npy", "--quiet", "--out", folder / "p")
                run(udv, "export", folder / "m", "--to", "onnx", "--quiet", "--out", folder / "e")
                ours = predictions(folder / "p/predictions.csv")
                others = {"ONNX Runtime": by_onnx(folder, folder / "e/model.onnx", X, node)}
                if variant == "UDV" and not bias:
                    run(sys.executable, HERE.parent.parent / "examples/load_in_pytorch.py",
                        folder / "m/model.safetensors", folder / "x.npy", folder / "t.npy")
                    others["PyTorch"] = np.load(folder / "t.npy").ravel()
                for loader, theirs in others.items():
                    error = np.abs(theirs - ours).max() / np.abs(ours).max()
                    assert error <= TOLERANCE, f"{variant} {bias}: {loader} differs by {error:.2e}"
    print(f"{2 * len(VARIANTS)} models: outputs equal to {TOLERANCE}")


main()
