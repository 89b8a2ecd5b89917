# SPDX-License-Identifier: MIT
"""udv with the habits of scikit-learn (1.2 or later).

`LowRankImputer` fills in tables, `MatrixCompletion` predicts entries of pairs (user, item),
`UDVRegressor` and `UDVClassifier` are networks of low-rank layers. None of them is told a rank.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

import udv

from . import _udv

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate

    _FINITE = "ensure_all_finite"
except ImportError:
    def _validate(estimator, X, y="no_validation", **how):
        return estimator._validate_data(X, y, **how)

    _FINITE = "force_all_finite"

__all__ = ["LowRankImputer", "MatrixCompletion", "UDVClassifier", "UDVRegressor"]

_NORMAL_QUARTILES = 1.349  # between those of a normal distribution, in standard deviations
_RATIO_TO_SCALE = 10  # of the columns' spreads, above which columns are scaled


def _checked(estimator, X, y="no_validation", finite=True, **how):
    # np.asarray would take what is masked for values.
    for name, value in (("X", X), ("y", y)):
        if np.ma.is_masked(value):
            raise ValueError(f"{name}: an array with masked values found, all values expected")
    return _validate(estimator, X, y, **{_FINITE: finite}, **how)


def _seed(random_state) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(random_state.randint(2**31 - 1))


def _complete(X, **options):
    """udv.complete without its warnings, which the estimator's `recovery_` has; None where a
    matrix is too small or too empty to have a low-rank part."""
    options = {name: value for name, value in options.items() if value is not None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", udv.DataWarning)
            return udv.complete(X, **options)
    except ValueError as error:
        if str(error).startswith("X: "):
            return None
        raise


class _Tags:
    """Tags of scikit-learn before and after 1.6."""

    _allow_nan = False

    def _more_tags(self):
        return {"allow_nan": self._allow_nan, "poor_score": getattr(self, "_poor_score", False),
                "multioutput": getattr(self, "_multioutput", False),
                "X_types": ["2darray", "string"] if getattr(self, "_strings", False)
                else ["2darray"]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allow_nan
        tags.input_tags.string = getattr(self, "_strings", False)
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = getattr(self, "_poor_score", False)
        tags.target_tags.multi_output = getattr(self, "_multioutput", False)
        return tags


class LowRankImputer(_Tags, TransformerMixin, BaseEstimator):
    """Fill in missing values by a low-rank model of the table, whose rank the data decide.

    Parameters
    ----------
    missing_values : float, default NaN
        What marks a missing value.
    max_rank : int, optional
        Columns of the factors at most.
    scale : bool or 'auto', default 'auto'
        Divide columns by their spreads first; auto: where these differ by more than a factor of 10.
    center, noise, noise_model, robust, range : optional
        As in `udv.complete`.
    add_indicator : bool, default False
        Append a column of 0 and 1 for each feature that had missing values in `fit`.
    keep_empty_features : bool, default False
        Features without any value in `fit` become 0 instead of being left out.
    random_state : int, optional

    Attributes
    ----------
    n_components_ : int
        The rank that was found.
    recovery_ : udv.Recovery
        The whole answer, or None where the table has no low-rank part.
    """

    _allow_nan = True

    def __init__(self, *, missing_values=np.nan, max_rank=None, scale="auto", center=None,
                 noise=None, noise_model=None, robust=None, range=None, add_indicator=False,
                 keep_empty_features=False, random_state=None):
        self.missing_values = missing_values
        self.max_rank = max_rank
        self.scale = scale
        self.center = center
        self.noise = noise
        self.noise_model = noise_model
        self.robust = robust
        self.range = range
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.random_state = random_state

    def _table(self, X, reset: bool):
        """X as floats with NaN for what is missing."""
        if np.ma.is_masked(X):
            mark = self.missing_values
            X = np.ma.asarray(X, dtype=np.float64).filled(mark)
        X = _checked(self, X, finite="allow-nan", dtype=np.float64, reset=reset, copy=True)
        if not _is_nan(self.missing_values):
            if np.isnan(X).any():
                raise ValueError("Input X contains NaN, but missing_values is "
                                 f"{self.missing_values}")
            X[X == self.missing_values] = np.nan
        return X

    def fit(self, X, y=None):
        X = self._table(X, reset=True)
        known = ~np.isnan(X)
        self._kept = known.any(axis=0)
        self._with_missing = ~known.all(axis=0)
        Z = X[:, self._kept]
        columns = [Z[~np.isnan(Z[:, j]), j] for j in _columns(Z)]
        self.means_ = np.array([column.mean() for column in columns])
        spreads = np.array([_spread(column) for column in columns])
        self._scales = np.where(spreads > 0, spreads, 1.0) if self._scales_columns(spreads) \
            else np.ones_like(spreads)
        limits = self.range if np.all(self._scales == 1) else None  # a range has the table's units
        self.recovery_ = _complete(
            Z / self._scales, max_rank=self.max_rank, center=self.center, noise=self.noise,
            noise_model=self.noise_model, robust=self.robust, range=limits, start="bayes",
            seed=_seed(self.random_state))
        self._learned = None if self.recovery_ is None else _udv.Columns(self.recovery_._answer)
        self.n_components_ = 0 if self.recovery_ is None else self.recovery_.rank
        return self

    def _scales_columns(self, spreads) -> bool:
        if not isinstance(self.scale, (bool, np.bool_)) and self.scale != "auto":
            raise ValueError(f"scale: {self.scale!r} found, True, False or 'auto' expected")
        if self.scale != "auto":
            return bool(self.scale)
        some = spreads[spreads > 0]
        return some.size > 0 and some.max() > _RATIO_TO_SCALE * some.min()

    def _filled(self, Z):
        """All entries of rows as the model has them."""
        if self._learned is None:
            return np.broadcast_to(self.means_, Z.shape)
        entries = _udv.Entries.dense("X", np.ascontiguousarray(Z / self._scales), False,
                                     may_be_empty=True)
        model = self._learned.fold_in(entries).matrix() * self._scales
        model = np.where(np.isfinite(model), model, self.means_)
        return model if self.range is None else np.clip(model, *self.range)

    def transform(self, X):
        """The table with its missing values filled in. Rows may be new: each is placed beside the
        learned columns by a small solve."""
        check_is_fitted(self)
        X = self._table(X, reset=False)
        missing = np.isnan(X)
        Z = X[:, self._kept]
        filled = np.where(np.isnan(Z), self._filled(Z), Z)
        if self.keep_empty_features and not self._kept.all():
            whole = np.zeros_like(X)
            whole[:, self._kept] = filled
            filled = whole
        if not self.add_indicator:
            return filled
        return np.hstack([filled, missing[:, self._with_missing].astype(np.float64)])

    def inverse_transform(self, X):
        """Puts the missing values back; needs add_indicator."""
        check_is_fitted(self)
        if not self.add_indicator:
            raise ValueError("inverse_transform needs add_indicator=True, which says where values "
                             "were missing")
        X = np.array(X, dtype=np.float64)
        width = self.n_features_in_ if self.keep_empty_features else int(self._kept.sum())
        values, marks = X[:, :width], X[:, width:].astype(bool)
        if marks.shape[1] != self._with_missing.sum():
            raise ValueError(f"X: {X.shape[1]} features found, "
                             f"{width + int(self._with_missing.sum())} expected")
        table = np.full((len(X), self.n_features_in_), self.missing_values, dtype=np.float64)
        table[:, slice(None) if self.keep_empty_features else self._kept] = values
        missing = np.zeros(table.shape, dtype=bool)
        missing[:, self._with_missing] = marks
        table[missing] = self.missing_values
        return table

    def get_feature_names_out(self, input_features=None):
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        kept = names if self.keep_empty_features else names[self._kept]
        if not self.add_indicator:
            return kept
        marks = [f"missingindicator_{name}" for name in names[self._with_missing]]
        return np.concatenate([kept, np.asarray(marks, dtype=object)])


def _columns(Z):
    return range(Z.shape[1])


def _spread(values):
    """The standard deviation by quartiles, which gross errors do not change; by squares where more
    than half of the values are equal."""
    k = len(values) // 4
    ordered = np.partition(values, (k, len(values) - 1 - k))
    quartiles = (ordered[-1 - k] - ordered[k]) / _NORMAL_QUARTILES
    return quartiles if quartiles > 0 else values.std()


def _is_nan(value) -> bool:
    return isinstance(value, (float, np.floating)) and np.isnan(value)


class MatrixCompletion(_Tags, RegressorMixin, BaseEstimator):
    """Predict the values of pairs (row, column) of a low-rank matrix: ratings of users and items.

    Parameters
    ----------
    row, column : int or str, default 0 and 1
        Which columns of X hold the keys of rows and columns: by position, or by name in a
        DataFrame. Others are not looked at.
    max_rank, center, noise, noise_model, robust, range : optional
        As in `udv.complete`.
    random_state : int, optional

    Attributes
    ----------
    rank_ : int
    rows_, columns_ : arrays of the keys
    recovery_ : udv.Recovery, or None where the pairs have no low-rank part
    """

    _poor_score = True  # features that are no keys say nothing
    _strings = True

    def __init__(self, *, row=0, column=1, max_rank=None, center=None, noise=None,
                 noise_model=None, robust=None, range=None, random_state=None):
        self.row = row
        self.column = column
        self.max_rank = max_rank
        self.center = center
        self.noise = noise
        self.noise_model = noise_model
        self.robust = robust
        self.range = range
        self.random_state = random_state

    def _position(self, key, names) -> int:
        if isinstance(key, (int, np.integer)):
            return int(key)
        if names is None or key not in list(names):
            raise ValueError(f"no column {key!r} in X")
        return list(names).index(key)

    def _pairs(self, X, y="no_validation", reset=False):
        checked = _checked(self, X, y, dtype=None, reset=reset,
                           **({} if isinstance(y, str) else {"y_numeric": True}))
        X, y = checked if isinstance(checked, tuple) else (checked, None)
        names = getattr(self, "feature_names_in_", None)
        at = [self._position(key, names) for key in (self.row, self.column)]
        if X.shape[1] <= max(at):
            raise ValueError(f"X has {X.shape[1]} feature(s), at least {max(at) + 1} expected: "
                             "keys of rows and of columns")
        return X[:, at[0]], X[:, at[1]], y

    def fit(self, X, y, sample_weight=None):
        i, j, y = self._pairs(X, y, reset=True)
        y = np.asarray(y, dtype=np.float64)
        w = _weights(sample_weight, len(y))
        i, j, y, w = i[w > 0], j[w > 0], y[w > 0], w[w > 0]
        if y.size == 0:
            raise ValueError("sample_weight: all weights are zero, a positive one expected")
        self.rows_, i = _numbered(i, "row")
        self.columns_, j = _numbered(j, "column")
        self.mean_ = float(np.average(y, weights=w))
        i, j, y, w = _merged(i, j, y, w, len(self.columns_))
        self.recovery_ = _complete(
            (i, j, y), shape=(len(self.rows_), len(self.columns_)),
            weight=None if np.all(w == 1) else w, max_rank=self.max_rank, center=self.center,
            noise=self.noise, noise_model=self.noise_model, robust=self.robust, range=self.range,
            seed=_seed(self.random_state))
        self.rank_ = 0 if self.recovery_ is None else self.recovery_.rank
        self._known = set(zip(i.tolist(), j.tolist()))
        self._row_means = _line_means(i, y, w, len(self.rows_), self.mean_)
        self._column_means = _line_means(j, y, w, len(self.columns_), self.mean_)
        return self

    def predict(self, X, return_std=False):
        """Values of pairs, and their standard deviations; a pair with an unknown key has the mean
        of the other key, and an infinite deviation."""
        check_is_fitted(self)
        rows, columns, _ = self._pairs(X)
        i, j = _positions(self.rows_, rows), _positions(self.columns_, columns)
        values = np.where(i >= 0, self._row_means[i], self._column_means[j])
        values = np.where((i < 0) & (j < 0), self.mean_, values)
        deviations = np.full(len(values), np.inf)
        both = (i >= 0) & (j >= 0)
        if self.recovery_ is not None and both.any():
            found, std = self.recovery_.predict(i[both], j[both], return_std=True)
            values[both] = np.where(np.isfinite(found), found, values[both])
            deviations[both] = std
        return (values, deviations) if return_std else values

    def recommend(self, rows, n=10, exclude_known=True):
        """The columns with the largest predictions for each row.

        Returns
        -------
        columns, values : arrays of len(rows) x n
        """
        check_is_fitted(self)
        rows = np.atleast_1d(np.asarray(rows))
        places = _positions(self.rows_, rows)
        if (places < 0).any():
            raise ValueError(f"rows: {rows[places < 0][0]!r} found, rows of the training expected")
        if n < 1:
            raise ValueError(f"n: {n} found, 1 or more expected")
        n = min(n, len(self.columns_))
        columns, values = [], []
        for i in places:
            scores = self._row_scores(i)
            if exclude_known:
                known = [j for j in range(len(scores)) if (int(i), j) in self._known]
                scores[known] = -np.inf
            best = np.argsort(-scores, kind="stable")[:n]
            columns.append(self.columns_[best])
            values.append(scores[best])
        return np.array(columns), np.array(values)

    def _row_scores(self, i):
        if self.recovery_ is None:
            return self._column_means.copy()
        scores = self.recovery_.predict(i, np.arange(len(self.columns_)))
        return np.where(np.isfinite(scores), scores, self._column_means)


def _numbered(keys, name):
    """The different keys, sorted, and the place of each."""
    try:
        return np.unique(keys, return_inverse=True)
    except TypeError:
        kinds = sorted({type(key).__name__ for key in keys})
        raise TypeError(f"{name}: keys of several types found ({', '.join(kinds)}), one type "
                        "expected") from None


def _weights(sample_weight, count):
    if sample_weight is None:
        return np.ones(count)
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.shape not in ((), (count,)):
        raise ValueError(f"sample_weight: shape {w.shape} found, ({count},) expected")
    w = np.broadcast_to(w, (count,))
    if not (np.isfinite(w).all() and (w >= 0).all()):
        raise ValueError("sample_weight: finite weights of at least 0 expected")
    return w


def _merged(i, j, y, w, width):
    """One value for each pair: the weighted mean of its repeats."""
    place = i.astype(np.int64) * width + j
    where, group = np.unique(place, return_inverse=True)
    total = np.bincount(group, weights=w)
    mean = np.bincount(group, weights=w * y) / total
    if where.size == y.size:  # nothing to merge: the values as they are
        mean = np.empty_like(y)
        mean[group] = y
    return where // width, where % width, mean, total


def _line_means(lines, y, w, count, mean):
    """Mean of each line, drawn towards the mean of all by one observation."""
    return (np.bincount(lines, w * y, count) + mean) / (np.bincount(lines, w, count) + 1)


def _positions(known, keys):
    """Places in a sorted array; -1 where a key is not there."""
    try:
        at = np.searchsorted(known, keys)
    except TypeError:
        return np.full(len(keys), -1)
    at = np.minimum(at, len(known) - 1)
    return np.where(known[at] == keys, at, -1)


_TRAIN_OPTIONS = frozenset(option["name"] for option in _udv.options("train"))


class _Network(_Tags, BaseEstimator):
    """What regressor and classifier share. Settings that are None are left to the engine."""

    def __init__(self, *, hidden=None, variant=None, lr=None, epochs=None, batch=None,
                 scaling=None, early_stopping=True, validation_fraction=0.1, random_state=None,
                 options=None):
        self.hidden = hidden
        self.variant = variant
        self.lr = lr
        self.epochs = epochs
        self.batch = batch
        self.scaling = scaling
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.options = options

    def _settings(self) -> dict:
        given = {"hidden": self.hidden, "variant": self.variant, "lr": self.lr,
                 "epochs": self.epochs, "batch": self.batch, "scaling": self.scaling}
        settings = {name: value for name, value in given.items() if value is not None}
        settings["validation_share"] = self.validation_fraction if self.early_stopping else 0
        settings.update(self.options or {})
        return settings

    def _train(self, X, y, task) -> None:
        if len(X) < 2:
            raise ValueError("1 sample found, at least 2 samples expected")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", udv.DataWarning)
            # All rows are for training: the test part that is looked at is no part of it.
            self.model_ = udv.train(X, y, task=task, test=(X, y), seed=_seed(self.random_state),
                                    **self._settings())
        self.loss_curve_ = self.model_.history["train_loss"].tolist()
        self.n_iter_ = len(self.loss_curve_)

    def prune(self, X=None, y=None, **budget):
        """Makes the network smaller, to a budget of `udv.prune`: rank=, energy=, max_drop=, ..."""
        check_is_fitted(self)
        self.model_ = self.model_.prune(X, y, **budget)
        return self


class UDVRegressor(RegressorMixin, _Network):
    """A network of low-rank layers for values.

    Parameters
    ----------
    hidden, variant, lr, epochs, batch, scaling : optional
        As in `udv.train`; None leaves them to the engine.
    early_stopping : bool, default True
        Hold out rows that decide when to stop and which weights are kept.
    validation_fraction : float, default 0.1
        Their share.
    random_state : int, optional
    options : dict, optional
        Any further keywords of `udv.train`.

    Attributes
    ----------
    model_ : udv.Model
    loss_curve_, n_iter_ : loss of each recorded epoch, and their number
    """

    _multioutput = True

    def fit(self, X, y):
        X, y = _checked(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._train(X, np.asarray(y, dtype=np.float64), "regression")
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.model_.predict(_checked(self, X, dtype=np.float64, reset=False))


class UDVClassifier(ClassifierMixin, _Network):
    """A network of low-rank layers for classes. Parameters as `UDVRegressor`.

    Attributes
    ----------
    classes_ : array of the labels
    model_ : udv.Model
    loss_curve_, n_iter_ : loss of each recorded epoch, and their number
    """

    def fit(self, X, y):
        from sklearn.utils.multiclass import check_classification_targets

        X, y = _checked(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y: {len(self.classes_)} class found, at least 2 classes expected")
        self._train(X, np.searchsorted(self.classes_, y), "classification")
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, rows x classes."""
        check_is_fitted(self)
        return self.model_.predict_proba(_checked(self, X, dtype=np.float64, reset=False))

    def predict(self, X):
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def prune(self, X=None, y=None, **budget):
        """Makes the network smaller, to a budget of `udv.prune`: rank=, energy=, max_drop=, ..."""
        check_is_fitted(self)
        labels = None if y is None else np.searchsorted(self.classes_, y)
        return super().prune(X, labels, **budget)
