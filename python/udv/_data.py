# SPDX-License-Identifier: MIT
"""The user's arrays, tables and sparse matrices, checked and handed to the engine.

Every message names the argument, what was found and what is expected.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import numpy as np

from . import _udv

_LARGEST_EXACT = 2**53  # whole numbers beyond it are not all float64


class Table(NamedTuple):
    """Known entries of a matrix, and what its lines are called."""

    entries: Any
    rows: Any = None  # labels, or None where they are numbers
    columns: Any = None
    keys: tuple = ()  # (row, column, value) of a long table


def is_path(value) -> bool:
    return isinstance(value, (str, os.PathLike))


def optional_path(value, name: str) -> str:
    if value is None:
        return ""
    if not is_path(value):
        raise TypeError(f"{name}: {type(value).__name__} found, a path expected beside a path")
    return os.fspath(value)


def is_frame(value) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_sparse(value) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)


def numbers(value, name: str, ndim: tuple = (1, 2, 3), complex_too: bool = False):
    """A native array of float64 (or complex128); no copy where it is one already."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise ValueError(f"{name}: an array with masked values found, all values expected")
        value = value.data
    array = np.asarray(value)
    kinds = "fiubc" if complex_too else "fiub"
    if array.dtype.kind not in kinds:
        what = "numbers" if complex_too else "real numbers"
        raise TypeError(f"{name}: an array of dtype {array.dtype} found, {what} expected")
    if array.ndim not in ndim:
        raise ValueError(f"{name}: shape {array.shape} found, {_axes(ndim)} expected")
    if array.size == 0:
        raise ValueError(f"{name}: an empty array of shape {array.shape} found, "
                         "at least one number expected")
    _check_whole(array, name)
    wanted = np.complex128 if array.dtype.kind == "c" else np.float64
    return array.astype(wanted, copy=False)


def _axes(ndim: tuple) -> str:
    words = {1: "one axis", 2: "two axes (a matrix)", 3: "three axes"}
    return " or ".join(words[n] for n in ndim)


def _check_whole(array, name: str) -> None:
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        if max(abs(int(array.min())), abs(int(array.max()))) > _LARGEST_EXACT:
            raise ValueError(f"{name}: whole numbers above 2^53 found, numbers that float64 "
                             "can hold expected")


def finite(value, name: str, **how):
    array = numbers(value, name, **how)
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: {array[at]} found at {list(at)}, finite numbers expected")
    return array


def indices(value, name: str):
    """Places as int64."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name}: an array of dtype {array.dtype} found, whole numbers expected")
    return np.atleast_1d(array).astype(np.int64, copy=False)


def _unmasked(X):
    if isinstance(X, np.ma.MaskedArray):
        return numbers(X.filled(0) if X.dtype.kind in "iub" else X.data, "X").copy(), \
            np.ma.getmaskarray(X)
    return X, None


def _from_dense(X, name, symmetric, weight):
    X, mask = _unmasked(X)
    array = numbers(X, name, ndim=(2,))
    if mask is not None:
        array = np.where(mask, np.nan, array)
    entries = _udv.Entries.dense(name, array, symmetric)
    if weight is not None:
        entries.set_weights(finite(weight, "weight", ndim=(2,)))
    return entries


def _no_weights():
    return np.empty(0)


def _from_sparse(X, name, symmetric, weight):
    if weight is not None:
        raise TypeError("weight: goes with arrays, triplets and long tables, not with sparse X")
    coo = X.tocoo()
    if coo.data.dtype.kind not in "fiub":
        raise TypeError(f"{name}: a sparse matrix of dtype {coo.data.dtype} found, "
                        "real numbers expected")
    return _udv.Entries.triplets(name, coo.row.astype(np.int64), coo.col.astype(np.int64),
                                 coo.data.astype(np.float64), _no_weights(), X.shape, symmetric)


def _from_triplets(X, name, symmetric, weight, shape):
    if len(X) != 3:
        raise ValueError(f"{name}: a tuple of {len(X)} found, (i, j, v) expected: rows, columns "
                         "and values")
    i, j = indices(X[0], f"{name}[0]"), indices(X[1], f"{name}[1]")
    v = numbers(X[2], f"{name}[2]", ndim=(1,))
    w = _no_weights() if weight is None else finite(weight, "weight", ndim=(1,))
    if shape is None:
        shape = (int(i.max()) + 1, int(j.max()) + 1)
        if symmetric:
            shape = (max(shape), max(shape))
    return _udv.Entries.triplets(name, i, j, v, w, tuple(shape), symmetric)


def _frame_numbers(frame, name):
    try:
        array = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        bad = [str(c) for c in frame.columns if frame[c].dtype.kind not in "fiub"]
        raise TypeError(f"{name}: columns that are no numbers found ({', '.join(bad[:5])}), "
                        "numbers with NaN expected; for a long table give row=, column= and "
                        "value=") from None
    return array


def _unique(labels, name: str, what: str):
    if not labels.is_unique:
        twice = labels[labels.duplicated()][0]
        raise ValueError(f"{name}: the {what} label {twice!r} found twice, each once expected")
    return labels


def _column(frame, key, argument):
    if key not in frame.columns:
        import difflib

        near = difflib.get_close_matches(str(key), [str(c) for c in frame.columns], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{argument}: no column {key!r} in the table, one of "
                         f"{', '.join(map(str, frame.columns[:10]))} expected{hint}")
    column = frame[key]
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(f"{argument}: the column {key!r} found twice in the table, once expected")
    return column


def _codes(column, argument, labels):
    """Numbers for keys: in the order of `labels`, or of the sorted keys where there are none."""
    import pandas as pd

    if column.isna().any():
        raise ValueError(f"{argument}: a missing key found in row {int(column.isna().argmax())}, "
                         "a key in each row expected")
    if labels is None:
        codes, found = pd.factorize(column, sort=True)
        return codes, pd.Index(found)
    return pd.Index(labels).get_indexer(column), labels


def _from_long(frame, keys, name, symmetric, weight, like):
    import pandas as pd

    row, column, value = keys
    known = (like.rows, like.columns) if like is not None else (None, None)
    rows, columns = _column(frame, row, "row"), _column(frame, column, "column")
    if symmetric and like is None:
        both = pd.Index(sorted(set(rows) | set(columns)))
        known = (both, both)
    i, row_labels = _codes(rows, "row", known[0])
    j, column_labels = _codes(columns, "column", known[1])
    v = _frame_numbers(_column(frame, value, "value").to_frame(), "value")[:, 0]
    w = _no_weights() if weight is None else _frame_numbers(
        _column(frame, weight, "weight").to_frame(), "weight")[:, 0]
    kept = ~np.isnan(v) & (i >= 0) & (j >= 0)
    entries = _udv.Entries.triplets(name, i[kept].astype(np.int64), j[kept].astype(np.int64),
                                    v[kept], w[kept] if weight is not None else w,
                                    (len(row_labels), len(column_labels)), symmetric)
    return Table(entries, row_labels, column_labels, keys)


def _from_wide(frame, name, symmetric, weight, like):
    rows = _unique(frame.index, name, "row")
    columns = _unique(frame.columns, name, "column")
    if like is not None and like.columns is not None:
        strange = [c for c in columns if c not in like.columns]
        if strange:
            raise ValueError(f"{name}: the column {strange[0]!r} found, columns of the completed "
                             "matrix expected")
        frame = frame.reindex(columns=like.columns)
        columns = frame.columns
    array = _frame_numbers(frame, name)
    return Table(_from_dense(array, name, symmetric, weight), rows, columns)


def _weight_of_std(weight, std):
    if std is None:
        return weight
    if weight is not None:
        raise ValueError("std: weight and std found, one of them expected")
    deviations = finite(std, "std")
    if not (deviations > 0).all():
        raise ValueError("std: a standard deviation of 0 or less found, positive ones expected")
    return 1 / deviations**2


def table(X, name="X", *, symmetric=False, row=None, column=None, value=None, weight=None,
          std=None, shape=None, like=None) -> Table:
    """The entries of anything that `udv.complete` takes. `like`: a table whose labels count."""
    if is_frame(X):
        keys = (row, column, value)
        if any(key is not None for key in keys):
            missing = [n for n, key in zip(("row", "column", "value"), keys) if key is None]
            if missing:
                raise ValueError(f"{missing[0]}: nothing found, the name of a column expected, "
                                 "as row, column and value go together")
            if std is not None:
                X = X.assign(**{"_udv_weight": 1 / _column(X, std, "std") ** 2})
                weight = "_udv_weight"
            return _from_long(X, keys, name, symmetric, weight, like)
        return _from_wide(X, name, symmetric, _weight_of_std(weight, std), like)
    for argument, given in (("row", row), ("column", column), ("value", value)):
        if given is not None:
            raise TypeError(f"{argument}: goes with a pandas.DataFrame or a file, {name} is "
                            f"{type(X).__name__}")
    weight = _weight_of_std(weight, std)
    if is_sparse(X):
        return Table(_from_sparse(X, name, symmetric, weight))
    if isinstance(X, tuple):
        return Table(_from_triplets(X, name, symmetric, weight, shape))
    return Table(_from_dense(X, name, symmetric, weight))


def texts(labels) -> list:
    """Labels as the engine's files and messages have them."""
    return [] if labels is None else [str(label) for label in labels]


def places(value, labels, name: str):
    """Positions of labels; positions themselves where there are no labels."""
    if labels is None:
        return indices(value, name)
    wanted = np.atleast_1d(np.asarray(value, dtype=object))
    at = labels.get_indexer(wanted.ravel())
    if (at < 0).any():
        unknown = wanted.ravel()[int(np.argmax(at < 0))]
        raise KeyError(f"{name}: {unknown!r} found, a label of the completed matrix expected")
    return at.reshape(wanted.shape).astype(np.int64)
