# SPDX-License-Identifier: MIT
"""Low-rank networks: training, pruning, export."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from . import _data, _udv
from ._docs import job
from ._errors import report
from ._watch import watcher


class Model:
    """A trained network with what its inputs and outputs mean.

    Attributes
    ----------
    task : 'regression' or 'classification'
    classes : array of the labels, in the order of the columns of `predict_proba`
    arrays : dict of the weights, named as in a state_dict ("U.weight", "D.weight", "V.weight")
    spectrum, live_width, parameters : singular values of UD; neurons and numbers in use
    history : dict of arrays, one value for each epoch
    figures : dict with test_loss, test_accuracy, seconds, stop_reason, folder, ...
    """

    def __init__(self, model, figures=None, history=None, classes=None, pruning=None):
        self._model = model
        self._facts = model.facts
        self.figures = figures or {}
        self.history = history or {}
        names = self._facts["classes"]
        self.classes = classes if classes is not None else np.asarray(names)
        self.pruning = pruning

    task = property(lambda self: self._facts["task"])
    variant = property(lambda self: self._facts["variant"])
    sizes = property(lambda self: self._facts["sizes"])
    spectrum = property(lambda self: self._facts["spectrum"])
    live_width = property(lambda self: self._facts["live_width"])
    parameters = property(lambda self: self._facts["parameters"])
    arrays = property(lambda self: self._model.arrays)

    @classmethod
    def load(cls, path) -> Model:
        """Reads model.safetensors, or the folder of a run."""
        return cls(_udv.Model.load(os.fspath(path)))

    def save(self, path) -> None:
        """Writes model.safetensors."""
        self._model.save(os.fspath(path))

    def decision_function(self, X) -> np.ndarray:
        """Outputs of the network, rows x outputs: scores, or values in the units of the target."""
        if self._facts["columns"]:
            return self._outputs_of_table(X)
        return self._model.predict(_data.finite(X, "X", ndim=(2,)))

    def _outputs_of_table(self, X) -> np.ndarray:
        if _data.is_path(X):
            return self._model.predict_file(os.fspath(X))
        if not _data.is_frame(X):
            raise TypeError(f"X: {type(X).__name__} found, a DataFrame or a file expected, as the "
                            "model was trained on a table")
        missing = [name for name in self._facts["columns"] if name not in X.columns]
        if missing:
            raise ValueError(f"X: no column {missing[0]!r} found, which the model needs")
        with _table_file(X[self._facts["columns"]]) as path:
            return self._model.predict_file(path)

    def predict(self, X) -> np.ndarray:
        """Values (one axis where there is one target), or labels."""
        outputs = self.decision_function(X)
        if self.task == "regression":
            return outputs[:, 0] if outputs.shape[1] == 1 else outputs
        labels = outputs.argmax(axis=1)
        return self.classes[labels] if len(self.classes) else labels

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes, rows x classes."""
        if self.task == "regression":
            raise ValueError("predict_proba: goes with classes, this model predicts values")
        scores = self.decision_function(X)
        exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponents / exponents.sum(axis=1, keepdims=True)

    def prune(self, X=None, y=None, **options) -> Model:
        """`udv.prune` of this model."""
        return prune(self, X, y, **options)

    def __repr__(self) -> str:
        sizes = "-".join(str(n) for n in self.sizes if n)
        return f"<udv.Model {self.variant} {sizes}, {self.task}, {self.parameters} parameters>"


@contextmanager
def _table_file(frame):
    """A table as a file, for columns that are no numbers."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.csv")
        frame.to_csv(path, index=False)
        yield path


def _with_unique_columns(frame, name: str):
    _data._unique(frame.columns, name, "column")
    return frame


def _has_words(X) -> bool:
    return _data.is_frame(X) and any(kind.kind not in "fiub" for kind in X.dtypes)


def _train_table(X, y, task: str, options: dict, watch):
    """Words and dates are coded by the engine, as those of a file."""
    _with_unique_columns(X, "X")
    name = getattr(y, "name", None) or "y"
    if name in X.columns:
        name = "udv_target"
    _same_rows(X, len(y), "y")
    with _table_file(X.assign(**{str(name): np.asarray(y)})) as path:
        return _udv.train_file(path, {**options, "task": task, "target": str(name)}, watch)


def _task_of(y, task: str) -> str:
    if task not in ("auto", "regression", "classification"):
        raise ValueError(f"task: {task!r} found, one of auto, regression, classification expected")
    if task != "auto":
        return task
    return "regression" if y.dtype.kind == "f" else "classification"


def _targets(y, task: str, classes=None, name="y"):
    """(values or None, labels or None, classes): floats are values unless the task says classes."""
    if y is None:
        raise TypeError(f"{name}: nothing found, the targets expected with X")
    array = _data.plain(y, name)
    task = _task_of(array, task)
    if task == "regression":
        values = _data.finite(array, name, ndim=(1, 2))
        return (values[:, None] if values.ndim == 1 else values), None, None
    if array.ndim != 1:
        raise ValueError(f"{name}: shape {array.shape} found, one label for each row expected")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name}: NaN or an infinite value found, labels expected")
    try:
        known, labels = np.unique(array, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in array})
        raise TypeError(f"{name}: labels of several types found ({', '.join(kinds)}), one type "
                        "expected") from None
    if classes is None:
        classes = known
    else:
        strange = [label for label in known.tolist() if label not in classes.tolist()]
        if strange:
            raise ValueError(f"{name}: the label {strange[0]!r} found, one that the model knows "
                             "expected")
        labels = np.searchsorted(classes, array)
    if len(classes) < 2:
        raise ValueError(f"y: {len(classes)} class found, at least 2 classes expected")
    return None, labels.astype(np.int32), classes


def _features(X, name="X"):
    if _data.is_frame(X):
        X = _data._frame_numbers(_with_unique_columns(X, name), name, "numbers expected")
    return _data.finite(X, name, ndim=(2,))


def _same_rows(X, rows: int, name: str):
    if len(X) != rows:
        raise ValueError(f"{name}: {rows} targets found, {len(X)} expected, one for each row of X")


def _test_part(test, width: int, has_values: bool, classes):
    """(X, values or None, labels or None) of the pair `test`."""
    if not isinstance(test, (tuple, list)) or len(test) != 2:
        raise TypeError(f"test: {type(test).__name__} found, (X, y) expected with an array")
    X = _features(test[0], "test[0]")
    if X.shape[1] != width:
        raise ValueError(f"test[0]: {X.shape[1]} features found, {width} expected, as in X")
    task = "regression" if has_values else "classification"
    values, labels, _ = _targets(test[1], task, classes, "test[1]")
    _same_rows(X, len(labels if values is None else values), "test[1]")
    return X, values, labels


@job("train", hidden=("data", "target", "targets"))
def train(X, y=None, *, test=None, task="auto", target=None, targets=None, callback=None,
          progress=False, **options) -> Model:
    """Train a network whose layers are low-rank factors, without choosing a rank.

    Parameters
    ----------
    X : array, DataFrame, or path
        Rows x features; words and dates of a DataFrame are coded. Or a file that the command
        `udv train` reads.
    y : array
        Targets: floats are values, whole numbers and texts are classes, unless `task` says it.
    test : (X, y) or path, optional
        The test part; default: a share of the rows.
    task : {'auto', 'regression', 'classification'}
    target, targets : str, optional
        With a path: the column of a table that is predicted; the file of the targets.
    {watching}
    {options}

    Returns
    -------
    Model
    """
    options = {name: value for name, value in options.items() if value is not None}
    watch = watcher(callback, progress)
    if _data.is_path(X):
        if y is not None:
            raise TypeError("y: goes with arrays; with a file give target or targets")
        files = {"task": task, "target": target, "targets": targets, "test": test}
        options.update({name: value for name, value in files.items() if value is not None})
        model, figures, history, warned, notices = _udv.train_file(os.fspath(X), options, watch)
        classes = None
    elif y is None:
        raise TypeError("y: nothing found, the targets expected with an array")
    elif _has_words(X):
        if test is not None:
            raise TypeError("test: goes with columns of numbers; give test_share for a share")
        kind = _task_of(np.asarray(y), task)
        model, figures, history, warned, notices = _train_table(X, y, kind, options, watch)
        classes = None
    else:
        features = _features(X)
        values, labels, classes = _targets(y, task)
        _same_rows(features, len(values if labels is None else labels), "y")
        test_part = None
        if test is not None:
            test_part = _test_part(test, features.shape[1], labels is None, classes)
        names = [] if classes is None else [str(c) for c in classes]
        model, figures, history, warned, notices = _udv.train(features, values, labels, test_part,
                                                              names, options, watch)
    report(figures["outcome"], f"training stopped short of its goal ({figures['stop_reason']})",
           warned, notices)
    return Model(model, figures, history, classes)


@job("prune", hidden=("model", "data", "targets", "compare"))
def prune(model, X=None, y=None, *, targets=None, compare=None, callback=None, progress=False,
          **options):
    """Make a trained network, an adapter or a file of tensors smaller, to a budget.

    Parameters
    ----------
    model : Model or path
        A path may be model.safetensors, the folder of a run or of a PEFT adapter.
    X, y : arrays, optional
        Data that decide, for max_drop, curve and finetune; X is a path where the model is one.
    targets, compare : path, optional
        With paths: the file of the targets; another model whose curve is drawn in the same chart.
    {watching}
    {options}

    Returns
    -------
    Model with `pruning` (neurons, parameters and bytes before and after); a dict for adapters.
    """
    options = {name: value for name, value in options.items() if value is not None}
    watch = watcher(callback, progress)
    if _data.is_path(model):
        given = [_data.optional_path(value, name) for value, name in
                 ((X, "X"), (targets, "targets"), (compare, "compare"))]
        result, warned, notices = _udv.prune_file(os.fspath(model), *given, options, watch)
        classes = None
    elif isinstance(model, Model):
        values = labels = features = None
        if X is not None:
            features = _features(X)
            values, labels, _ = _targets(y, model.task, model.classes)
            _same_rows(features, len(values if labels is None else labels), "y")
        result, warned, notices = _udv.prune(model._model, features, values, labels, options, watch)
        classes = model.classes if model.task == "classification" else None
    else:
        raise TypeError(f"model: {type(model).__name__} found, a udv.Model or a path expected")
    report(result["outcome"], "pruning stopped short of its goal", warned, notices)
    smaller = result.pop("model", None)
    return result if smaller is None else Model(smaller, classes=classes, pruning=result)


@job("export", hidden=("model", "resume", "time_limit", "seed", "threads"))
def export(model, out, **options) -> Path:
    """Write a trained network or an adapter for other programs.

    Parameters
    ----------
    model : Model or path
    out : path
        Folder of the files.
    {options}

    Returns
    -------
    pathlib.Path of the folder
    """
    options = {name: value for name, value in options.items() if value is not None}
    options["out"] = os.fspath(out)
    if _data.is_path(model):
        return Path(_udv.export_file(os.fspath(model), options))
    if not isinstance(model, Model):
        raise TypeError(f"model: {type(model).__name__} found, a udv.Model or a path expected")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        model.save(path)
        return Path(_udv.export_file(path, options))
