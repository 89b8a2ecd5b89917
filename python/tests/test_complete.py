# SPDX-License-Identifier: MIT
"""Completion from everything that can hold entries."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import udv

EXACT = 1e-9  # of entries of size 1


def stored(holes):
    i, j = np.nonzero(~np.isnan(holes))
    return i, j, holes[i, j]


def test_array_with_nan_is_filled(holes, low_rank):
    answer = udv.complete(holes)
    assert answer.rank == 3 and answer.certified
    assert np.abs(answer.matrix() - low_rank).max() < EXACT
    assert answer.shape == holes.shape and answer.U.shape == (60, 3) and answer.V.shape == (40, 3)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "triplets", "masked", "strided", "fortran",
                                  "readonly", "swapped", "float32", "list"])
def test_every_container_gives_the_same_answer(holes, low_rank, kind):
    i, j, v = stored(holes)
    made = {
        "coo": lambda: sp.coo_matrix((v, (i, j)), holes.shape),
        "csr": lambda: sp.csr_matrix((v, (i, j)), holes.shape),
        "csc": lambda: sp.csc_matrix((v, (i, j)), holes.shape),
        "triplets": lambda: (i, j, v),
        "masked": lambda: np.ma.masked_invalid(holes),
        "strided": lambda: np.repeat(holes, 2, axis=1)[:, ::2],
        "fortran": lambda: np.asfortranarray(holes),
        "readonly": lambda: _readonly(holes),
        "swapped": lambda: holes.astype(">f8"),
        "float32": lambda: holes.astype(np.float32),
        "list": lambda: holes.tolist(),
    }[kind]()
    answer = udv.complete(made)
    error = np.abs(answer.matrix() - low_rank).max()
    assert error < (1e-4 if kind == "float32" else EXACT)
    if kind != "float32":
        assert np.array_equal(answer.U, udv.complete(holes).U)  # the same bits


def _readonly(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def test_input_is_never_changed(holes):
    before = holes.copy()
    udv.complete(holes)
    assert np.array_equal(before, holes, equal_nan=True)


def test_wide_table_keeps_its_labels(holes, low_rank):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(holes, index=[f"r{i}" for i in range(60)],
                         columns=[f"c{j}" for j in range(40)])
    answer = udv.complete(frame)
    filled = answer.to_frame()
    assert list(filled.index) == list(frame.index) and list(filled.columns) == list(frame.columns)
    assert abs(filled.loc["r3", "c4"] - low_rank[3, 4]) < EXACT
    assert abs(answer.predict("r3", "c4") - low_rank[3, 4]) < EXACT
    assert answer.predict(["r3", "r5"], "c4").shape == (2,)
    with pytest.raises(KeyError, match="nobody"):
        answer.predict("nobody", "c4")


def test_long_table(holes, low_rank):
    pd = pytest.importorskip("pandas")
    i, j, v = stored(holes)
    long = pd.DataFrame({"user": [f"u{k:02}" for k in i], "item": j, "stars": v})
    answer = udv.complete(long.sample(frac=1, random_state=0), row="user", column="item",
                          value="stars")
    assert abs(answer.predict("u07", 11) - low_rank[7, 11]) < EXACT
    assert answer.to_frame().shape == (60, 40)


def test_weights_and_std_are_the_same(holes, rng):
    noisy = holes + 0.1 * rng.normal(size=holes.shape)
    std = rng.uniform(0.5, 2, size=holes.shape)
    by_std, by_weight = udv.complete(noisy, std=std), udv.complete(noisy, weight=1 / std**2)
    assert np.array_equal(by_std.U, by_weight.U)


def test_test_entries_are_measured(holes, low_rank):
    hidden = np.where(np.isnan(holes), low_rank, np.nan)
    assert udv.complete(holes, test=hidden).test_rmse < EXACT


def test_symmetric(rng):
    U = rng.normal(size=(30, 2))
    X = U @ U.T
    table = np.where(rng.random(X.shape) < 0.5, np.nan, X)
    answer = udv.complete(np.where(np.isnan(table), table.T, table), symmetric=True)
    assert np.abs(answer.matrix() - X).max() < EXACT
    indefinite = U[:, :1] @ U[:, :1].T - U[:, 1:] @ U[:, 1:].T
    answer = udv.complete(np.where(np.isnan(table), np.nan, indefinite), symmetric="indefinite")
    assert np.abs(answer.matrix() - indefinite).max() < 1e-7


def test_standard_deviations_hold(holes, low_rank, rng):
    answer = udv.complete(holes + 0.1 * rng.normal(size=holes.shape))
    i, j = np.nonzero(np.isnan(holes))
    value, std = answer.predict(i, j, return_std=True)
    observed = low_rank[i, j] + 0.1 * rng.normal(size=i.size)
    inside = np.mean(np.abs(value - observed) < 2 * std)
    assert 0.9 < inside < 0.99  # 95 % of a normal distribution
    assert abs(answer.noise - 0.1) < 0.02


def test_keep_known_and_range(holes, rng):
    noisy = holes + 0.1 * rng.normal(size=holes.shape)
    answer = udv.complete(noisy, range=(-1, 1))
    assert np.abs(answer.matrix()).max() <= 1
    kept = answer.matrix(keep_known=True)
    assert np.array_equal(kept[~np.isnan(noisy)], noisy[~np.isnan(noisy)])


def test_rows_without_data_are_nan(holes):
    holes[5] = np.nan
    with pytest.warns(udv.DataWarning, match="rows 5 have no entries"):
        answer = udv.complete(holes)
    assert np.isnan(answer.matrix()[5]).all() and np.isnan(answer.predict(5, 0))
    assert answer.undetermined["empty_rows"].tolist() == [5]
    assert not answer.determined(5, 0) and answer.determined(4, 0)


def test_fold_in_places_new_rows(holes, low_rank):
    answer = udv.complete(holes[:50])
    folded = answer.fold_in(holes[50:])
    assert folded.shape == (10, 40)
    assert np.abs(folded.matrix() - low_rank[50:]).max() < 1e-6
    assert folded.predict(2, 3) == pytest.approx(low_rank[52, 3], abs=1e-6)
    assert folded.determined(2, 3).all()
    i, j, v = stored(holes[50:])
    assert np.allclose(answer.fold_in((i, j, v)).matrix(), folded.matrix())


def test_fold_in_aligns_labels(holes, low_rank):
    pd = pytest.importorskip("pandas")
    columns = [f"c{j}" for j in range(40)]
    answer = udv.complete(pd.DataFrame(holes[:50], columns=columns))
    new = pd.DataFrame(holes[50:], columns=columns, index=[f"n{i}" for i in range(10)])
    folded = answer.fold_in(new[columns[::-1]])  # another order of the columns
    assert np.abs(folded.to_frame().loc["n0", columns] - low_rank[50]).max() < 1e-6
    with pytest.raises(ValueError, match="'other'"):
        answer.fold_in(new.rename(columns={"c0": "other"}))


def test_pickle_keeps_everything(holes, rng):
    answer = udv.complete(holes + 0.1 * rng.normal(size=holes.shape))
    again = pickle.loads(pickle.dumps(answer))
    assert repr(again) == repr(answer)
    assert np.array_equal(again.U, answer.U) and np.array_equal(again.matrix(), answer.matrix())
    assert again.predict(1, 2, return_std=True) == answer.predict(1, 2, return_std=True)
    assert np.array_equal(again.fold_in(holes[:3]).matrix(), answer.fold_in(holes[:3]).matrix())


def test_repr_is_one_line_and_html_a_table(holes):
    answer = udv.complete(holes)
    assert repr(answer).startswith("<udv.Recovery 60 x 40: rank 3") and "\n" not in repr(answer)
    html = answer._repr_html_()
    assert html.startswith("<table>") and "<svg" in html and html.endswith("</table>")


def test_arrays_are_views(holes):
    U = udv.complete(holes).U  # outlives its answer
    assert not U.flags.writeable and not U.flags.owndata and np.isfinite(U).all()


def test_limited_run_warns(holes, rng):
    with pytest.warns(udv.ConvergenceWarning, match="iteration_limit|short of its goal"):
        udv.complete(holes, polish="off", max_iterations=3)


def test_shapes_of_rank_zero():
    answer = udv.complete(np.random.default_rng(0).standard_normal((30, 20)))
    assert answer.rank == 0
    assert answer.V.shape == (20, 0) and answer.matrix().shape == (30, 20)
