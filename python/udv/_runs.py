# SPDX-License-Identifier: MIT
"""Runs on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import _data, _udv
from ._networks import Model
from ._recovery import Recovery
from ._udv import IoError


_KEPT = ("method", "measurements", "rank_gap", "objective", "relative_residual", "iterations",
         "seconds", "stop_reason", "converged", "scale", "alpha", "step", "verdict", "certificate")


class Run(Mapping):
    """What a run left in its folder: run.json as a mapping, and the files beside it.

    >>> run = udv.read_run("out")                     # doctest: +SKIP
    >>> run["rank"], run.U.shape, run.history["objective"][-1]
    """

    def __init__(self, folder: Path, content: dict):
        self.folder = folder
        self._content = content

    def __getitem__(self, key):
        return self._content[key]

    def __iter__(self):
        return iter(self._content)

    def __len__(self):
        return len(self._content)

    def array(self, name: str) -> np.ndarray:
        """The array NAME.npy. Throws IoError where there is none."""
        path = self.folder / f"{name}.npy"
        try:
            return np.load(path)
        except (OSError, ValueError) as error:
            raise IoError(f"{path}: {error}") from error

    U = property(lambda self: self.array("U"))
    d = property(lambda self: self.array("d"))
    x = property(lambda self: self.array("x"))

    @property
    def V(self) -> np.ndarray:
        return self.array("V") if (self.folder / "V.npy").exists() else self.U

    @property
    def history(self) -> dict:
        """Columns of history.csv as arrays."""
        path = self.folder / "history.csv"
        try:
            table = np.genfromtxt(path, delimiter=",", names=True, ndmin=1)
        except (OSError, ValueError) as error:
            raise IoError(f"{path}: {error}") from error
        return {name: table[name] for name in table.dtype.names}

    def recovery(self) -> Recovery:
        """The answer of a completion: `predict`, `fold_in` and `matrix` work as before, without
        standard deviations."""
        answer, names, has_keys = _udv.read_completion(os.fspath(self.folder))
        columns = None
        rows = None
        if has_keys:
            import pandas as pd

            columns = pd.Index(names)
            path = self.folder / "rows.csv"
            if path.exists():
                rows = pd.Index(pd.read_csv(path, dtype=str, keep_default_na=False).iloc[:, 1])
        recovery = Recovery(answer, "complete", _data.Table(None, rows, columns))
        recovery._facts = {**answer.facts, **{name: self._content[name] for name in _KEPT
                                              if name in self._content},
                           "spectrum": np.asarray(self._content["spectrum"], dtype=float),
                           "noise": self._content.get("noise_sigma", 0.0),
                           "summary": f"rank {recovery.rank}, {self._content['verdict']}"}
        return recovery

    def model(self) -> Model:
        """The network of a training."""
        return Model.load(self.folder)

    def __repr__(self) -> str:
        return f"<udv.Run {self.get('command', '?')} in {self.folder}>"


def read_run(folder) -> Run:
    """Read the folder of a run: run.json, factors, history, model.

    Throws `udv.IoError` naming file and position where there is none or it is damaged.
    """
    import json

    text = _udv.read_run(_data.path(folder, "folder"))
    return Run(Path(folder), json.loads(text))
