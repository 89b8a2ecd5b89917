# SPDX-License-Identifier: MIT
"""Estimators: the checks of scikit-learn, and what they are for."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from udv.sklearn import LowRankImputer, MatrixCompletion, UDVClassifier, UDVRegressor


@pytest.mark.parametrize("estimator", [
    LowRankImputer(), LowRankImputer(add_indicator=False, scale=True), MatrixCompletion(),
    UDVRegressor(), UDVClassifier()], ids=lambda e: repr(e))
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(estimator):
    check_estimator(estimator)


def test_new_rows_are_imputed(holes, low_rank):
    imputer = LowRankImputer().fit(holes[:50])
    assert imputer.n_components_ == 3
    filled = imputer.transform(holes[50:])
    assert np.abs(filled - low_rank[50:]).max() < 1e-6
    known = ~np.isnan(holes[50:])
    assert np.array_equal(filled[known], holes[50:][known])
    again = pickle.loads(pickle.dumps(imputer)).transform(holes[50:])
    assert np.array_equal(again, filled)
    nothing = imputer.transform(np.full((2, 40), np.nan))  # the mean row
    assert np.isfinite(nothing).all() and np.array_equal(nothing[0], nothing[1])


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
def test_fills_in_better_than_neighbours_and_regressions(noise):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    rng = np.random.default_rng(1)
    truth = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 25)) / 2
    hole = rng.random(truth.shape) < 0.3
    table = np.where(hole, np.nan, truth + noise * rng.normal(size=truth.shape))

    def error_of(imputer):
        return np.sqrt(np.mean((imputer.fit_transform(table) - truth)[hole] ** 2))

    ours = LowRankImputer()
    error = error_of(ours)
    assert error < error_of(KNNImputer()) and error < error_of(IterativeImputer(max_iter=20))
    assert ours.recovery_.facts["iterations"] == 0  # variational Bayes needs no walk


def test_gross_errors_are_still_found(low_rank, rng):
    table = low_rank + 0.01 * rng.normal(size=low_rank.shape)
    hole = rng.random(table.shape) < 0.2
    wrong = ~hole & (rng.random(table.shape) < 0.03)
    table[wrong] += 20
    table[hole] = np.nan
    imputer = LowRankImputer().fit(table)
    assert imputer.recovery_.facts["outliers_removed"] and imputer.n_components_ == 3
    assert np.abs(imputer.transform(np.where(wrong, np.nan, table)) - low_rank).max() < 0.3


def test_units_of_columns_do_not_matter(holes, low_rank, rng):
    units = 10 ** rng.uniform(-4, 4, size=40)
    filled = LowRankImputer().fit_transform(holes * units + 3 * units)
    assert np.abs(filled / units - 3 - low_rank).max() < 1e-5


def test_indicator_and_inverse(holes):
    imputer = LowRankImputer(add_indicator=True)
    table = imputer.fit_transform(holes)
    back = imputer.inverse_transform(table)
    assert np.array_equal(np.isnan(back), np.isnan(holes))
    assert np.array_equal(back, holes, equal_nan=True)
    assert len(imputer.get_feature_names_out()) == table.shape[1]
    with pytest.raises(ValueError, match="add_indicator"):
        LowRankImputer().fit(holes).inverse_transform(holes)


def test_empty_features_and_other_marks(holes):
    holes[:, 3] = np.nan
    assert LowRankImputer().fit_transform(holes).shape == (60, 39)
    kept = LowRankImputer(keep_empty_features=True).fit_transform(holes)
    assert kept.shape == (60, 40) and (kept[:, 3] == 0).all()
    marked = np.where(np.isnan(holes), -999, holes)
    by_mark = LowRankImputer(missing_values=-999).fit_transform(marked)
    assert np.allclose(by_mark, LowRankImputer().fit_transform(holes))


def test_frames_in_and_out(holes):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(holes, columns=[f"c{j}" for j in range(40)])
    filled = LowRankImputer().set_output(transform="pandas").fit_transform(frame)
    assert list(filled.columns) == list(frame.columns) and filled.notna().all().all()


def test_in_pipeline_grid_and_clone(holes, low_rank):
    from sklearn.linear_model import Ridge

    y = low_rank[:, 0] + low_rank[:, 1]
    pipeline = make_pipeline(LowRankImputer(), Ridge(1e-6))
    grid = GridSearchCV(pipeline, {"lowrankimputer__max_rank": [1, 3]}, cv=3).fit(holes, y)
    assert grid.best_params_ == {"lowrankimputer__max_rank": 3} and grid.best_score_ > 0.99
    assert clone(pipeline).fit(holes, y).score(holes, y) > 0.99
    from joblib import Parallel, delayed

    scores = Parallel(n_jobs=2)(delayed(_score)(clone(pipeline), holes, y) for _ in range(2))
    assert scores[0] == scores[1]


def _score(pipeline, X, y):
    return pipeline.fit(X, y).score(X, y)


def test_ratings(rng):
    users, items = rng.normal(size=(50, 2)), rng.normal(size=(30, 2))
    table = 3 + users @ items.T
    i, j = np.nonzero(rng.random(table.shape) < 0.5)
    pairs = np.array([[f"u{a}" for a in i], [f"i{b}" for b in j]]).T
    model = MatrixCompletion().fit(pairs, table[i, j])
    assert model.rank_ <= 3
    value, std = model.predict([["u1", "i2"], ["u1", "nobody"], ["x", "y"]], return_std=True)
    assert abs(value[0] - table[1, 2]) < 1e-6 and std[0] < 1e-6
    assert np.isfinite(value).all() and np.isinf(std[1:]).all()
    columns, values = model.recommend(["u1", "u2"], n=3)
    assert columns.shape == (2, 3) and (np.diff(values, axis=1) <= 0).all()
    rated = set(pairs[pairs[:, 0] == "u1", 1])
    assert not rated & set(columns[0])
    unrated = [b for b in range(30) if f"i{b}" not in rated]
    assert columns[0][0] == f"i{max(unrated, key=lambda b: table[1, b])}"
    with pytest.raises(ValueError, match="rows of the training"):
        model.recommend("nobody")


def test_repeats_are_averaged_by_weight(rng):
    table = np.outer(np.arange(1.0, 9), np.arange(1.0, 7))
    i, j = (a.ravel() for a in np.indices(table.shape))
    pairs = np.column_stack([i, j])
    twice = np.vstack([pairs, pairs])
    y = np.concatenate([table.ravel() + 1, table.ravel() - 1])
    once = MatrixCompletion().fit(pairs, table.ravel())
    both = MatrixCompletion().fit(twice, y)
    assert np.allclose(once.predict(pairs), both.predict(pairs), atol=1e-6)
    frame = pytest.importorskip("pandas").DataFrame({"x": 0, "item": j, "user": i})
    by_name = MatrixCompletion(row="user", column="item").fit(frame, table.ravel())
    assert np.allclose(by_name.predict(frame), once.predict(pairs))


def test_networks_learn(rng):
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * 2 - X[:, 1] + 1
    assert UDVRegressor().fit(X, y).score(X, y) > 0.95
    two = UDVRegressor().fit(X, np.column_stack([y, -y])).predict(X)
    assert two.shape == (300, 2)
    labels = np.where(y > 1, "yes", "no")
    model = UDVClassifier().fit(X, labels)
    assert model.score(X, labels) > 0.9 and list(model.classes_) == ["no", "yes"]
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    same = pickle.loads(pickle.dumps(model)).predict_proba(X)
    assert np.array_equal(same, model.predict_proba(X))
    before = model.model_.parameters
    model.prune(X, labels, max_drop=0.5)
    assert model.model_.parameters < before and set(model.predict(X)) <= {"yes", "no"}
