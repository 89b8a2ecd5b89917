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
        raise TypeError(f"{name}: {type(value).__name__} found, a path expected with a path")
    return os.fspath(value)


def path(value, name: str) -> str:
    """A path as text."""
    if not is_path(value):
        raise TypeError(f"{name}: {type(value).__name__} found, a path expected")
    return os.fspath(value)


def two_sizes(shape, name: str = "shape") -> tuple:
    """(rows, columns) as whole numbers."""
    if isinstance(shape, (tuple, list, np.ndarray)) and len(shape) == 2:
        if all(isinstance(n, (int, np.integer)) and n > 0 for n in shape):
            return int(shape[0]), int(shape[1])
    found = repr(shape) if isinstance(shape, (tuple, str, int, float)) else type(shape).__name__
    raise ValueError(f"{name}: {found} found, (rows, columns) expected, two positive whole "
                     "numbers")


def _array(value, name: str):
    """np.asarray, with the argument in its message."""
    if is_sparse(value):
        raise TypeError(f"{name}: a sparse matrix found, an array expected")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: rows of different lengths found, all of one length "
                         "expected") from None


def is_frame(value) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_sparse(value) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)


def numbers(value, name: str, ndim: tuple = (1, 2, 3), complex_too: bool = False):
    """A native array of float64 (or complex128); no copy where it is one already."""
    array = plain(value, name)
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


def plain(value, name: str):
    """An array of any kind, none of it masked."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name}: an array with masked values found, all values expected")
    return _array(value, name)


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
    array = _array(value, name)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name}: an array of dtype {array.dtype} found, whole numbers expected")
    if array.dtype == np.uint64 and array.size > 0:
        _check_whole(array, name)
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
        entries.set_weights(_some(finite(weight, "weight", ndim=(2,))))
    return entries


def _some(weight):
    if not weight.any():
        raise ValueError(f"weight: all {weight.size} values are zero, a positive one expected")
    return weight


def _no_weights():
    return np.empty(0)


def _from_sparse(X, name, symmetric, weight):
    if weight is not None:
        raise TypeError("weight: goes with arrays, triplets and long tables, not with sparse X")
    coo = X.tocoo()
    if coo.data.dtype.kind not in "fiub":
        raise TypeError(f"{name}: a sparse matrix of dtype {coo.data.dtype} found, "
                        "real numbers expected")
    if coo.data.size > 0:
        _check_whole(coo.data, name)
    return _udv.Entries.triplets(name, coo.row.astype(np.int64), coo.col.astype(np.int64),
                                 coo.data.astype(np.float64), _no_weights(), X.shape, symmetric)


def _from_triplets(X, name, symmetric, weight, shape):
    if len(X) != 3:
        raise ValueError(f"{name}: a tuple of {len(X)} found, (i, j, v) expected: rows, columns "
                         "and values")
    i, j = indices(X[0], f"{name}[0]"), indices(X[1], f"{name}[1]")
    v = numbers(X[2], f"{name}[2]", ndim=(1,))
    w = _no_weights() if weight is None else _some(finite(weight, "weight", ndim=(1,)))
    if shape is None:
        shape = (int(i.max()) + 1, int(j.max()) + 1)
        if symmetric:
            shape = (max(shape), max(shape))
    return _udv.Entries.triplets(name, i, j, v, w, two_sizes(shape), symmetric)


def _frame_numbers(frame, name, what="numbers with NaN expected; for a long table give row=, "
                                       "column= and value="):
    """The values of a table as float64. Dates and times are no numbers."""
    if not any(kind.kind in "mM" for kind in frame.dtypes):
        try:
            return frame.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            pass
    bad = [str(c) for c, kind in zip(frame.columns, frame.dtypes) if kind.kind not in "fiub"]
    raise TypeError(f"{name}: columns that are no numbers found ({', '.join(bad[:5])}), {what}")


def _unique(labels, name: str, what: str):
    if not labels.is_unique:
        twice = labels[labels.duplicated()][0]
        raise ValueError(f"{name}: the {what} label {twice!r} found twice, each once expected")
    return labels


def _column(frame, key, argument):
    if not hasattr(type(key), "__hash__") or type(key).__hash__ is None:
        raise TypeError(f"{argument}: {type(key).__name__} found, the name of a column expected")
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


def _numbers_of(frame, key, argument):
    return _frame_numbers(_column(frame, key, argument).to_frame(), argument,
                          "numbers expected")[:, 0]


def _weights_of_lines(frame, weight):
    """One weight for each line of a long table: a column of it, or an array."""
    if not isinstance(weight, np.ndarray):
        return _numbers_of(frame, weight, "weight")
    w = numbers(weight, "weight", ndim=(1,))
    if w.size != len(frame):
        raise ValueError(f"weight: {w.size} values found, {len(frame)} expected, one for each "
                         "line of the table")
    return w


def _sorted_keys(keys):
    try:
        return sorted(keys)
    except TypeError:
        kinds = sorted({type(key).__name__ for key in keys})
        raise TypeError(f"row: keys of several types found ({', '.join(kinds)}) in row and column, "
                        "one type expected where symmetric") from None


def _from_long(frame, keys, name, symmetric, weight, like):
    import pandas as pd

    row, column, value = keys
    known = (like.rows, like.columns) if like is not None else (None, None)
    rows, columns = _column(frame, row, "row"), _column(frame, column, "column")
    if symmetric and like is None:
        both = pd.Index(_sorted_keys(set(rows) | set(columns)))
        known = (both, both)
    i, row_labels = _codes(rows, "row", known[0])
    j, column_labels = _codes(columns, "column", known[1])
    v = _numbers_of(frame, value, "value")
    w = _no_weights() if weight is None else _weights_of_lines(frame, weight)
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
    if like is not None and like.rows is not None:
        strange = [r for r in rows if r not in like.rows]
        if strange:
            raise ValueError(f"{name}: the row {strange[0]!r} found, rows of X expected")
        frame = frame.reindex(index=like.rows)
        rows = frame.index
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
                missing = np.isnan(_numbers_of(X, value, "value"))
                deviations = std if isinstance(std, np.ndarray) else _numbers_of(X, std, "std")
                if deviations.shape == missing.shape:
                    deviations = np.where(missing, 1.0, deviations)
                weight = _weight_of_std(weight, deviations)
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
