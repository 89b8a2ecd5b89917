# SPDX-License-Identifier: MIT
"""What a recovery returns: the matrix as factors, and how far it can be trusted."""

from __future__ import annotations

import os

import numpy as np

from . import _data, _udv

_BARS = 12  # singular values that a notebook draws


class Recovery:
    """X = U diag(d) V^T + offsets, as `udv.complete` and `udv.sense` return it.

    Attributes
    ----------
    U, d, V : arrays
        The factors; V is U where X is symmetric. They are read-only views, not copies.
    rank : int
        The rank of X, found from the data.
    spectrum : array
        Singular values of X, largest first, at least one past the rank.
    noise : float
        Standard deviation of a measurement's error, estimated or given.
    certificate : dict
        Whether X is a global minimum ("verdict") and the only answer ("unique").
    undetermined : dict
        Rows, columns and blocks that the data leave open, by position.
    history : dict of arrays
        Iteration, seconds, objective, rank, ... of the recorded steps: a DataFrame's columns.
    facts : dict
        All other figures of the run: residuals, offsets, outliers, stop_reason, seconds, ...
    warnings : list of str
    folder : str
        Where the results were written; empty without `out`.
    """

    def __init__(self, answer, command: str, table: _data.Table | None = None):
        self._answer = answer
        self._command = command
        self._rows = table.rows if table is not None else None
        self._columns = table.columns if table is not None else None
        self._keys = table.keys if table is not None else ()
        self._facts = None
        self._learned = None

    def __getstate__(self):
        return {**self.__dict__, "_facts": None, "_learned": None}

    # ---- what was found

    @property
    def facts(self) -> dict:
        if self._facts is None:
            self._facts = self._answer.facts
        return self._facts

    U = property(lambda self: self._answer.U)
    d = property(lambda self: self._answer.d)
    V = property(lambda self: self._answer.V if len(self._answer.V) else self._answer.U)
    rank = property(lambda self: self._answer.rank)
    spectrum = property(lambda self: self.facts["spectrum"])
    noise = property(lambda self: self.facts["noise"])
    certificate = property(lambda self: self.facts["certificate"])
    undetermined = property(lambda self: self.facts["undetermined"])
    history = property(lambda self: self._answer.history)
    warnings = property(lambda self: self._answer.warnings)
    folder = property(lambda self: self._answer.folder)
    verdict = property(lambda self: self.facts["verdict"])
    certified = property(lambda self: self.facts["certified"])
    converged = property(lambda self: self.facts["converged"])
    test_rmse = property(lambda self: self.facts["test_rmse"])

    @property
    def shape(self) -> tuple:
        return self.facts["rows"], self.facts["columns"]

    # ---- predictions

    def predict(self, i, j, return_std: bool = False):
        """X(i, j) + offsets.

        Parameters
        ----------
        i, j : int or arrays of int
            Rows and columns, from 0; labels where the matrix came from a DataFrame. They broadcast.
        return_std : bool
            Also return the standard deviation of an observation of each entry: infinite where the
            data do not determine it, 0 beside an exact fit.

        Returns
        -------
        values, or (values, std). NaN where a row or column has no data.
        """
        rows, columns = self._pairs(i, j)
        values, std, _ = self._answer.predict(rows.ravel(), columns.ravel())
        shape = np.broadcast_shapes(_shape_of(i, self._rows), _shape_of(j, self._columns))
        values = values.reshape(shape)[()]
        return (values, std.reshape(shape)[()]) if return_std else values

    def determined(self, i, j):
        """Whether the data determine X(i, j)."""
        rows, columns = self._pairs(i, j)
        shape = np.broadcast_shapes(_shape_of(i, self._rows), _shape_of(j, self._columns))
        return self._answer.predict(rows.ravel(), columns.ravel())[2].reshape(shape)[()]

    def _pairs(self, i, j):
        """Places of rows and columns, one shape for both."""
        rows = _data.places(i, self._rows, "i")
        columns = _data.places(j, self._columns, "j")
        try:
            return np.broadcast_arrays(rows, columns)
        except ValueError:
            raise ValueError(f"j: shape {columns.shape} found, {rows.shape} expected, as i has it, "
                             "or one that broadcasts with it") from None

    def matrix(self, keep_known: bool = False) -> np.ndarray:
        """All of X + offsets as an array; NaN in rows and columns without data.

        keep_known : the entries that were given stay as they were.
        """
        facts = self.facts
        X = (self.U * self.d) @ self.V.T
        X += facts["offset"]
        if facts["row_offsets"].size:
            X += facts["row_offsets"][:, None]
        if facts["column_offsets"].size:
            X += facts["column_offsets"]
        if facts["range"] is not None:
            np.clip(X, *facts["range"], out=X)
        open_lines = facts["undetermined"]
        X[open_lines["empty_rows"]] = np.nan
        X[:, open_lines["empty_rows" if facts["symmetric"] else "empty_columns"]] = np.nan
        known = self._answer.known
        if keep_known and known is not None:
            X[known.rows, known.cols] = known.values
            if facts["symmetric"]:
                X[known.cols, known.rows] = known.values
        return X

    def to_frame(self, keep_known: bool = False):
        """`matrix()` as a pandas.DataFrame with the labels of the input."""
        import pandas as pd

        return pd.DataFrame(self.matrix(keep_known), index=self._rows, columns=self._columns)

    def fold_in(self, rows, *, weight=None) -> FoldedRows:
        """Places new rows beside the matrix, without a new solve.

        rows : anything that `udv.complete` takes, with the same columns: an array with NaN, a
            sparse matrix, (i, j, v), or a table of the same kind as the matrix came from.
        """
        if self._learned is None:
            self._learned = _udv.Columns(self._answer)
        like = _data.Table(None, None, self._columns)
        keys = dict(zip(("row", "column", "value"), self._keys)) if _data.is_frame(rows) else {}
        shape = None
        if isinstance(rows, tuple) and len(rows) == 3 and np.size(rows[0]) > 0:
            shape = (int(np.max(rows[0])) + 1, self.shape[1])
        table = _data.table(rows, "rows", weight=weight, shape=shape, like=like, **keys)
        return FoldedRows(self._learned, self._learned.fold_in(table.entries), table.rows,
                          self._columns)

    # ---- files and pages

    def save(self, folder) -> None:
        """Writes run.json, U.npy, d.npy, V.npy, history.csv: what `out` and the command write."""
        self._answer.save(_data.path(folder, "folder"), self._command, _data.texts(self._rows),
                          _data.texts(self._columns))

    def report(self, path=None) -> str:
        """A self-contained HTML page of the run: its text, or written to `path` (returned)."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, self._command)
            self.save(run)
            html = _data.path(path, "path") if path is not None else os.path.join(folder, "report.html")
            _udv.write_report(html, f"udv {self._command}", [run])
            if path is not None:
                return html
            with open(html, encoding="utf-8") as file:
                return file.read()

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<udv.{type(self).__name__} {rows} x {columns}: {self.facts['summary']}>"

    def _repr_html_(self) -> str:
        rows, columns = self.shape
        figures = [("matrix", f"{rows} x {columns}"), ("rank", self.rank),
                   ("noise", f"{self.noise:.3g}"),
                   ("relative residual", f"{self.facts['relative_residual']:.3g}"),
                   ("verdict", self.verdict)]
        lines = "".join(f"<tr><th style='text-align:left'>{name}</th>"
                        f"<td style='text-align:left'>{_escaped(value)}</td></tr>"
                        for name, value in figures)
        return (f"<table>{lines}<tr><th style='text-align:left'>spectrum</th><td>"
                f"{_bars(self.spectrum, self.rank)}</td></tr></table>")


class PhaseRecovery(Recovery):
    """What `udv.retrieve_phase` returns: `x` up to a factor of modulus 1, `amplitude`, `phase`."""

    def __init__(self, answer, x):
        super().__init__(answer, "phase")
        self.x = x

    amplitude = property(lambda self: np.abs(self.x))
    phase = property(lambda self: np.angle(self.x))

    def predict(self, i, j, return_std: bool = False):
        """Entries of x x^*."""
        if return_std:
            raise ValueError("return_std: goes with matrices from udv.complete and udv.sense")
        return self.x.ravel()[i] * np.conj(self.x.ravel()[j])

    def matrix(self, keep_known: bool = False) -> np.ndarray:
        """x x^*."""
        return np.outer(self.x.ravel(), np.conj(self.x.ravel()))


class ImageRecovery(PhaseRecovery):
    """What `udv.ptychography` returns: the complex image `x`, its `amplitude` and `phase`, and the
    `pupil` as used. `facts` has dark_gain, amplitude_residual, held_out_residual, candidates."""

    def __init__(self, answer, image, pupil, figures):
        super().__init__(answer, image)
        self._command = "ptychography"
        self.pupil = pupil
        self._figures = figures

    @property
    def facts(self) -> dict:
        return {**super().facts, **self._figures}


class FoldedRows:
    """New rows of a completed matrix: `matrix()`, `predict(i, j)`, `coordinates`."""

    def __init__(self, columns, folded, row_labels, column_labels):
        self._learned = columns
        self._folded = folded
        self._rows = row_labels
        self._columns = column_labels

    coordinates = property(lambda self: self._folded.t)

    @property
    def shape(self) -> tuple:
        return self._folded.t.shape[0], self._learned.offsets.size

    def matrix(self) -> np.ndarray:
        """All entries; NaN in columns without data."""
        X = self._folded.matrix()
        X[:, self._learned.empty] = np.nan
        return X

    def predict(self, i, j):
        return self.matrix()[_data.places(i, self._rows, "i").reshape(_shape_of(i, self._rows)),
                             _data.places(j, self._columns, "j").reshape(
                                 _shape_of(j, self._columns))]

    def determined(self, i, j):
        """Whether the entries of row i determine its value in column j."""
        rows, columns = np.broadcast_arrays(_data.places(i, self._rows, "i"),
                                            _data.places(j, self._columns, "j"))
        return self._folded.determined(rows.ravel(), columns.ravel()).reshape(rows.shape)

    def to_frame(self):
        import pandas as pd

        return pd.DataFrame(self.matrix(), index=self._rows, columns=self._columns)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<udv.FoldedRows {rows} x {columns}>"


def _shape_of(value, labels) -> tuple:
    if labels is not None and isinstance(value, (str, bytes, tuple)):
        return ()
    return np.shape(value)


def _escaped(text) -> str:
    from html import escape

    return escape(str(text))


def _bars(spectrum, rank: int) -> str:
    """Singular values on a logarithmic scale: those of the rank dark, the others pale."""
    values = np.asarray(spectrum)[:_BARS]
    if values.size == 0 or values[0] <= 0:
        return ""
    decades = np.log10(np.maximum(values / values[0], 1e-16)) / 16 + 1
    bars = "".join(
        f"<rect x='{14 * k}' y='{40 - 38 * h:.1f}' width='11' height='{38 * h + 1:.1f}' "
        f"fill='{'#2b6cb0' if k < rank else '#cbd5e0'}'><title>{v:.4g}</title></rect>"
        for k, (h, v) in enumerate(zip(decades, values)))
    return f"<svg width='{14 * values.size}' height='42' role='img'>{bars}</svg>"
