#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes scikit-learn's tables, split five times, and the errors of its own models beside them.

usage: export.py FOLDER [SPLITS]
FOLDER/NAME-SPLIT-{train,test}.csv have the target in the column "target"; FOLDER/peers.csv has
name, split, linear, mlp: test errors (share of wrong labels, or root mean squared error) of
logistic regression or ridge and of the multilayer perceptron with default settings.
"""
import csv
import pathlib
import sys
import warnings

import numpy as np
from sklearn import datasets, linear_model, model_selection, neural_network, preprocessing

warnings.filterwarnings("ignore")


def tables():
    for name in ("iris", "wine", "digits", "breast_cancer"):
        data = getattr(datasets, "load_" + name)()
        yield name, data.data, data.target, True
    X, y = datasets.make_moons(1000, noise=0.2, random_state=0)
    yield "moons", X, y, True
    X, y = datasets.make_friedman1(1000, n_features=10, noise=1.0, random_state=0)
    yield "friedman1", X, y, False
    data = datasets.load_diabetes()
    yield "diabetes", data.data, data.target, False
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(400, 5))
    X = hidden @ rng.normal(size=(5, 2000)) + rng.normal(size=(400, 2000))
    yield "factors", X, (hidden @ rng.normal(size=5) > 0).astype(int), True
    X = rng.normal(size=(1000, 20)) * 10 ** rng.uniform(-3, 3, 20)
    yield "linear", X, X / np.abs(X).mean(0) @ rng.normal(size=20) * 7 + 100, False


def write(path, X, y):
    names = [f"x{i}" for i in range(X.shape[1])] + ["target"]
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for row, target in zip(X, y):
            file.write(",".join(f"{v:.9g}" for v in row) + f",{target}\n")


def errors(classes, X, y, X_test, y_test):
    scaler = preprocessing.StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    if classes:
        models = linear_model.LogisticRegression(max_iter=1000), neural_network.MLPClassifier(random_state=0)
        return [np.mean(m.fit(X, y).predict(X_test) != y_test) for m in models]
    mean, sd = y.mean(), y.std()
    models = linear_model.Ridge(), neural_network.MLPRegressor(random_state=0)
    return [np.sqrt(np.mean((m.fit(X, (y - mean) / sd).predict(X_test) * sd + mean - y_test) ** 2))
            for m in models]


def main():
    folder = pathlib.Path(sys.argv[1])
    splits = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "peers.csv", "w") as file:
        out = csv.writer(file)
        out.writerow(["name", "split", "classes", "linear", "mlp"])
        for name, X, y, classes in tables():
            for split in range(splits):
                # 200 of the 400 rows with five factors are for learning
                share = 0.5 if name == "factors" else 0.2
                parts = model_selection.train_test_split(
                    X, y, test_size=share, random_state=split, stratify=y if classes else None)
                X_train, X_test, y_train, y_test = parts
                write(folder / f"{name}-{split}-train.csv", X_train, y_train)
                write(folder / f"{name}-{split}-test.csv", X_test, y_test)
                found = errors(classes, X_train, y_train, X_test, y_test)
                out.writerow([name, split, int(classes)] + [f"{e:.6g}" for e in found])


main()
