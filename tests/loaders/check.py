# SPDX-License-Identifier: MIT
"""Models of every variant, exported and loaded by others: check.py UDV_PROGRAM NODE_FOLDER

The outputs of ONNX Runtime, and of PyTorch by examples/load_in_pytorch.py, are compared with those of udv predict.
"""
import csv
import datetime
import json
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


def raw_table(random):
    """Numbers with gaps, words with gaps, a date, and two targets."""
    rows = []
    for i in range(300):
        size = random.normal(1500, 400)
        word = random.choice(["red", "green", "blue", ""])
        day = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}"
        price = 100 * size + {"red": 5e4, "green": -5e4, "blue": 0, "": 1e4}[word] + 1e3 * (i % 12)
        gap = random.random() < 0.1
        rows.append([day, "" if gap else f"{size:.2f}", word, f"{price:.1f}", "dear" if price > 160000 else "cheap"])
    return ["sold", "size", "colour", "price", "class"], rows


def columns_of(header, rows, inputs):
    """The raw fields of a table as the inputs of the graph."""
    values = {}
    for name, kind in inputs.items():
        column, _, part = name.rpartition(".") if name not in header else (name, "", "")
        at = header.index(column)
        if kind == "string":
            values[name] = {"type": "string", "values": ["" if r[at] == "NA" else r[at] for r in rows]}
        elif part:
            whole = [datetime.datetime.fromisoformat(r[at]) for r in rows]
            number = {"weekday": lambda d: d.weekday()}.get(part, lambda d: getattr(d, part))
            values[name] = {"type": "float32", "values": [number(d) for d in whole]}
        else:
            values[name] = {"type": "float32", "values": [None if r[at] in ("", "NA") else float(r[at]) for r in rows]}
    return values


def check_raw(udv, node, folder, header, rows, target, extra):
    """One graph from raw columns: predictions, labels and probabilities are those of udv predict."""
    with open(folder / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)
    run(udv, "train", folder / "t.csv", "--target", target, *extra, "--quiet", "--force", "--out", folder / "rm")
    run(udv, "predict", folder / "rm", folder / "t.csv", "--quiet", "--force", "--out", folder / "rp")
    run(udv, "export", folder / "rm", "--to", "onnx", "--quiet", "--force", "--out", folder / "re")
    model = onnx.load(folder / "re/model.onnx")
    onnx.checker.check_model(model, full_check=True)
    inputs = {i.name: "string" if i.type.tensor_type.elem_type == onnx.TensorProto.STRING else "float32"
              for i in model.graph.input}
    (folder / "in.json").write_text(json.dumps(columns_of(header, rows, inputs)))
    run("node", HERE / "run_columns.mjs", folder / "re/model.onnx", folder / "in.json", folder / "out.json",
        env={**os.environ, "NODE_FOLDER": str(node)})
    theirs = json.loads((folder / "out.json").read_text())
    with open(folder / "rp/predictions.csv") as file:
        ours = [row.get("prediction", row.get("class")) for row in csv.DictReader(file)]
    if "label" in theirs:
        assert theirs["label"] == ours, f"{target}: labels differ"
    else:
        ours = np.array(ours, float)
        error = np.abs(np.array(theirs["output"]) - ours).max() / np.abs(ours).max()
        assert error <= TOLERANCE, f"{target}: raw columns differ by {error:.2e}"
    return len(inputs)


def check_raw_tables(udv, node):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        header, rows = raw_table(np.random.default_rng(2))
        check_raw(udv, node, folder, header, rows, "price", ["--drop", "class"])
        check_raw(udv, node, folder, header, rows, "class", ["--drop", "price", "--task", "classification"])
        houses = pathlib.Path(os.environ.get("UDV_DATA", "none")) / "house_prices" / "train.csv"
        if not houses.exists():
            print("House Prices are not there: their graph is not checked")
            return
        with open(houses, newline="") as file:
            header, *rows = list(csv.reader(file))
        count = check_raw(udv, node, folder, header, rows, "SalePrice", [])
        print(f"House Prices, {count} raw columns: predictions equal to {TOLERANCE}")


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
                    "--variant", variant, *bias, "--epochs", 5, "--quiet", "--force", "--out", folder / "m")
                run(udv, "predict", folder / "m", folder / "x.npy", "--quiet", "--force", "--out", folder / "p")
                run(udv, "export", folder / "m", "--to", "onnx", "--quiet", "--force", "--out", folder / "e")
                ours = predictions(folder / "p/predictions.csv")
                others = {"ONNX Runtime": by_onnx(folder, folder / "e/model.onnx", X, node)}
                if variant == "UDV" and not bias:
                    run(sys.executable, HERE.parent.parent / "examples/load_in_pytorch.py",
                        folder / "m/model.safetensors", folder / "x.npy", folder / "t.npy")
                    others["PyTorch"] = np.load(folder / "t.npy").ravel()
                for loader, theirs in others.items():
                    error = np.abs(theirs - ours).max() / np.abs(ours).max()
                    assert error <= TOLERANCE, f"{variant} {bias}: {loader} differs by {error:.2e}"
    check_raw_tables(udv, node)
    print(f"{2 * len(VARIANTS)} models: outputs equal to {TOLERANCE}")


main()
