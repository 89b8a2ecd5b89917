#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains udv with default settings on the tables of export.py and prints its errors beside those of
scikit-learn: mean over the splits.

usage: compare.py FOLDER UDV [--only NAME,...] [FLAG...]     (flags go to udv train)
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile


def error_of(udv, folder, name, split, flags):
    with tempfile.TemporaryDirectory() as out:
        base = folder / f"{name}-{split}"
        task = "regression" if name in ("friedman1", "diabetes", "linear") else "classification"
        command = [udv, "train", f"{base}-train.csv", "--test", f"{base}-test.csv", "--target",
                   "target", "--quiet", "--report", "off", "--out", out, *flags]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode not in (0, 4):
            sys.exit(" ".join(command) + ": " + found.stderr)
        run = json.load(open(pathlib.Path(out) / "run.json"))
        if run["task"] != task:
            print(f"{name}: task {run['task']} found, {task} expected")
        value = 1 - run["test_accuracy"] if task == "classification" else run["test_rmse"]
        return value, run


def main():
    folder, udv, flags = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    only = None
    if flags and flags[0] == "--only":
        only, flags = flags[1].split(","), flags[2:]
    rows = {}
    for row in csv.DictReader(open(folder / "peers.csv")):
        rows.setdefault(row["name"], []).append(row)
    print("table          linear      mlp      udv   seconds  note")
    for name, splits in rows.items():
        if only and name not in only:
            continue
        classes = splits[0]["classes"] == "1"
        linear = sum(float(s["linear"]) for s in splits) / len(splits)
        mlp = sum(float(s["mlp"]) for s in splits) / len(splits)
        found = [error_of(udv, folder, name, s["split"], flags) for s in splits]
        ours = sum(e for e, _ in found) / len(found)
        seconds = sum(r["seconds"] for _, r in found) / len(found)
        best = min(linear, mlp)
        scale = 100 if classes else 1
        worse = 100 * (ours - best) if classes else 100 * (ours / best - 1)
        note = f"{worse:+.2f} {'points' if classes else '%'}"
        if not classes:
            note += f", R2 {sum(r['test_r2'] for _, r in found) / len(found):.5f}"
        heads = sorted({r["variant"] for _, r in found})
        print(f"{name:14s} {scale * linear:8.3f} {scale * mlp:8.3f} {scale * ours:8.3f} {seconds:8.2f}  {note}  {','.join(heads)}", flush=True)


main()
