# SPDX-License-Identifier: MIT
"""Wrong input: a message with the argument, what was found and what is expected; never a crash."""

import numpy as np
import pytest
import scipy.sparse as sp

import udv


def expect(error, words, call):
    with pytest.raises(error) as caught:
        call()
    for word in words.split("|"):
        assert word in str(caught.value), (word, str(caught.value))


SQUARE = np.array([[1.0, 2.0, np.nan], [2.0, 4.0, 6.0], [3.0, np.nan, 9.0]])


@pytest.mark.parametrize("X, error, words", [
    (np.ones(5), ValueError, "X: shape (5,) found|matrix"),
    (np.ones((2, 2, 2)), ValueError, "X: shape (2, 2, 2) found"),
    (np.float64(3), ValueError, "X: shape () found"),
    (np.empty((0, 3)), ValueError, "X: an empty array|(0, 3)"),
    (np.full((3, 3), np.nan), ValueError, "X: only NaN found"),
    (np.zeros((3, 3)), ValueError, "X: all 9 values are zero"),
    (np.ones((1, 4)), ValueError, "X: the matrix is 1 x 4|at least 2 x 2"),
    (np.array([["a", "b"], ["c", "d"]]), TypeError, "X: an array of dtype <U1 found"),
    (np.array([[1, np.nan], [None, 2]], dtype=object), TypeError, "X: an array of dtype object"),
    (np.array([[1 + 2j, 3], [4, 5]]), TypeError, "X: an array of dtype complex128|real"),
    (np.array([["2020", "2021"]], dtype="datetime64"), TypeError, "X: an array of dtype datetime64"),
    (np.array([[1, np.inf], [2, 3]]), ValueError, "X: inf found at row 0, column 1|NaN expected"),
    (np.array([[1, -np.inf], [2, 3]]), ValueError, "X: -inf found"),
    (np.array([[2**60, 1], [2, 3]]), ValueError, "X: whole numbers above 2^53"),
    (np.array([[1e200, 1], [2, 3]]), ValueError, "X: the largest magnitude is 1e+200"),
    ("no-such-file.csv", udv.IoError, "no-such-file.csv"),
    (None, TypeError, "X: an array of dtype object"),
    ((np.arange(3), np.arange(3)), ValueError, "X: a tuple of 2 found|(i, j, v)"),
])
def test_bad_matrices(X, error, words):
    expect(error, words, lambda: udv.complete(X))


@pytest.mark.parametrize("i, j, v, error, words", [
    ([0, 1], [0, 1], [1.0], ValueError, "X: 2 rows, 2 columns and 1 values"),
    ([0.0, 1.0], [0, 1], [1.0, 2.0], TypeError, "X[0]: an array of dtype float64|whole numbers"),
    ([0, -1], [0, 1], [1.0, 2.0], ValueError, "X: entry 1 stands in row -1"),
    ([0, 1], [0, 1], [1.0, np.nan], ValueError, "X: entry 1 (row 1, column 1) is nan"),
    ([0, 1, 0], [0, 1, 0], [1.0, 2.0, 3.0], ValueError, "X: two values found for row 0, column 0"),
    ([], [], [], ValueError, "X[2]: an empty array"),
])
def test_bad_triplets(i, j, v, error, words):
    expect(error, words, lambda: udv.complete((np.array(i), np.array(j), np.array(v))))


def test_triplets_outside_of_the_shape():
    expect(ValueError, "X: entry 1 stands in row 5|0 to 2",
           lambda: udv.complete(([0, 5], [0, 1], [1.0, 2.0]), shape=(3, 3)))


def test_sparse():
    twice = sp.coo_matrix(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), (2, 2))
    expect(ValueError, "X: two values found for row 0, column 1", lambda: udv.complete(twice))
    expect(TypeError, "X: a sparse matrix of dtype complex128",
           lambda: udv.complete(sp.csr_matrix(np.eye(3) * 1j)))
    expect(ValueError, "X: no entries found", lambda: udv.complete(sp.csr_matrix((3, 3))))
    expect(ValueError, "X: entry 0|inf", lambda: udv.complete(sp.csr_matrix([[np.inf, 0], [1, 2]])))


def test_not_symmetric():
    lopsided = np.array([[1.0, 2.0], [3.0, 4.0]])
    expect(ValueError, "X: 2 found at row 0, column 1 but 3 at its mirror image",
           lambda: udv.complete(lopsided, symmetric=True))
    expect(ValueError, "X: a 2 x 3 matrix found|square",
           lambda: udv.complete(np.ones((2, 3)), symmetric=True))


def test_tables():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(SQUARE, index=list("aab"))
    expect(ValueError, "X: the row label 'a' found twice", lambda: udv.complete(frame))
    frame = pd.DataFrame(SQUARE, columns=["x", "y", "x"])
    expect(ValueError, "X: the column label 'x' found twice", lambda: udv.complete(frame))
    frame = pd.DataFrame({"a": ["p", "q"], "b": [1.0, 2.0]})
    expect(TypeError, "X: columns that are no numbers found (a)", lambda: udv.complete(frame))
    long = pd.DataFrame({"u": [1, 1, 2], "i": [1, 1, 2], "v": [1.0, 2.0, 3.0]})
    expect(ValueError, "X: two values found",
           lambda: udv.complete(long, row="u", column="i", value="v"))
    expect(ValueError, "column: nothing found", lambda: udv.complete(long, row="u"))
    named = long.rename(columns={"u": "user"})
    expect(ValueError, "row: no column 'usr'|did you mean user?",
           lambda: udv.complete(named, row="usr", column="i", value="v"))
    missing = long.assign(u=[1, None, 2])
    expect(ValueError, "row: a missing key found in row 1",
           lambda: udv.complete(missing, row="u", column="i", value="v"))
    nullable = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [2.0, 4.0, 6.0]})
    assert udv.complete(nullable, center="none").rank == 1  # pd.NA is unknown, as NaN is


def test_keywords():
    expect(TypeError, "complete() has no keyword 'max_rnk'|did you mean max_rank?",
           lambda: udv.complete(SQUARE, max_rnk=3))
    expect(ValueError, "max_rank: '0' found, a whole number from 1",
           lambda: udv.complete(SQUARE, max_rank=0))
    expect(ValueError, "max_rank: '2.5' found", lambda: udv.complete(SQUARE, max_rank=2.5))
    expect(TypeError, "max_rank: dict found, a whole number",
           lambda: udv.complete(SQUARE, max_rank={}))
    expect(TypeError, "max_rank: bool found", lambda: udv.complete(SQUARE, max_rank=True))
    expect(ValueError, "method: 'pca' found, one of auto, bm",
           lambda: udv.complete(SQUARE, method="pca"))
    expect(ValueError, "range: ", lambda: udv.complete(SQUARE, range=(5, 1)))
    expect(TypeError, "callback: int found", lambda: udv.complete(SQUARE, callback=3))
    expect(TypeError, "row: goes with a pandas.DataFrame",
           lambda: udv.complete(SQUARE, row="a"))
    expect(TypeError, "base: goes with a file", lambda: udv.complete(SQUARE, base=1))
    expect(ValueError, "weight: shape (2, 2) found, (3, 3) expected",
           lambda: udv.complete(SQUARE, weight=np.ones((2, 2))))
    expect(ValueError, "weight: weight|at least 0",
           lambda: udv.complete(SQUARE, weight=-np.ones((3, 3))))
    expect(ValueError, "std: a standard deviation of 0",
           lambda: udv.complete(SQUARE, std=np.zeros((3, 3))))


def test_places_of_predictions(holes):
    answer = udv.complete(holes)
    for i, j in ((60, 0), (-1, 0), (0, 40)):
        with pytest.raises(IndexError, match="found, 0 to"):
            answer.predict(i, j)
    expect(TypeError, "i: an array of dtype float64", lambda: answer.predict(1.5, 0))
    expect(ValueError, "rows: 39 columns found, 40 expected",
           lambda: answer.fold_in(holes[:, :39]))


@pytest.mark.parametrize("A, b, how, error, words", [
    (np.ones((4, 2, 2)), np.ones(3), {}, ValueError, "b: 3 values found, 4 expected"),
    (np.ones((4, 4)), np.ones(4), {}, ValueError, "A: shape (4, 4) found|give shape"),
    (np.ones((4, 4)), np.ones(4), {"shape": (3, 3)}, ValueError, "A: shape (4, 4) found, n x 9"),
    (np.ones((4, 2, 2)), np.zeros(4), {}, ValueError, "b: all 4 values are zero"),
    (np.ones((4, 2, 2)), [1, 2, np.nan, 3], {}, ValueError, "b: nan found at [2]"),
    (np.full((4, 2, 2), np.nan), np.ones(4), {}, ValueError, "A_0|not finite"),
    (np.ones((4, 2, 2)) * 1j, np.ones(4), {}, TypeError, "A: an array of dtype complex128"),
    (np.ones((4, 2, 3)), np.ones(4), {"symmetric": True}, ValueError, "A: X is 2 x 3|square"),
    (np.ones(4), np.ones(4), {}, ValueError, "A: shape (4,) found"),
    (np.ones((0, 2, 2)), np.ones(0), {}, ValueError, "A: an empty array"),
])
def test_bad_measurements(A, b, how, error, words):
    expect(error, words, lambda: udv.sense(A, b, **how))


def test_bad_intensities():
    A = np.ones((4, 2))
    expect(ValueError, "b: -1.0 found at [1]", lambda: udv.retrieve_phase(A, [1, -1, 1, 1]))
    expect(ValueError, "b: 3 values found, 4 expected", lambda: udv.retrieve_phase(A, np.ones(3)))
    expect(ValueError, "A: inf found at [0, 0]",
           lambda: udv.retrieve_phase(np.full((4, 2), np.inf), np.ones(4)))
    expect(ValueError, "truth: 3 values found, 2 expected",
           lambda: udv.retrieve_phase(A, np.ones(4), truth=np.ones(3)))


def test_bad_images():
    images = np.ones((4, 8, 8))
    expect(TypeError, "setup: list found, a dict", lambda: udv.ptychography(images, []))
    expect(ValueError, "setup: 'wavelength' found|did you mean wavelength_m?",
           lambda: udv.ptychography(images, {"wavelength": 5e-7}))
    expect(ValueError, "images: shape (8, 8)", lambda: udv.ptychography(np.ones((8, 8)), {}))
    expect(ValueError, "images: nan found at [0, 0, 0]",
           lambda: udv.ptychography(np.full((4, 8, 8), np.nan), {}))


def test_bad_training_data():
    X, y = np.ones((10, 2)), np.arange(10.0)
    expect(ValueError, "y: 9 targets found, 10 expected", lambda: udv.train(X, y[:9]))
    expect(ValueError, "X: nan found at [0, 0]", lambda: udv.train(X * np.nan, y))
    expect(ValueError, "y: 1 class found", lambda: udv.train(X, np.ones(10, dtype=int)))
    expect(TypeError, "y: nothing found", lambda: udv.train(X))
    expect(TypeError, "X: an array of dtype <U1", lambda: udv.train(np.full((10, 2), "a"), y))
    expect(TypeError, "train() has no keyword 'epoch'|did you mean epochs?",
           lambda: udv.train(X, y, epoch=3))
    expect(TypeError, "model: int found, a udv.Model or a path", lambda: udv.prune(3))
    expect(udv.IoError, "nowhere", lambda: udv.read_run("nowhere"))


def test_io_error_is_an_os_error(tmp_path, holes):
    assert issubclass(udv.IoError, OSError)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        udv.complete(holes, out=tmp_path / "file")


@pytest.mark.parametrize("call, error, words", [
    (lambda: udv.complete([[1.0, 2.0], [3.0]]), ValueError, "X: rows of different lengths"),
    (lambda: udv.complete(([0, 1], [0, 1], [1.0, 2.0]), shape=3), ValueError, "shape: 3 found|(rows"),
    (lambda: udv.complete(([0, 1], [0, 1], [1.0, 2.0]), shape=(2, 2.5)), ValueError, "(2, 2.5)"),
    (lambda: udv.complete(([0, 1], [0, 1], [1.0, 2.0]), shape=[[1], [2, 3]]), ValueError, "list"),
    (lambda: udv.complete(SQUARE, test=np.ones((2, 2))), ValueError, "test: shape (2, 2) found|(3, 3)"),
    (lambda: udv.complete(SQUARE, weight=np.zeros((3, 3))), ValueError, "weight: all 9 values are zero"),
    (lambda: udv.complete(SQUARE, max_rank=np.arange(3)), TypeError, "max_rank: ndarray found"),
    (lambda: udv.complete(SQUARE, noise=np.ones(2)), TypeError, "noise: ndarray found"),
    (lambda: udv.complete(sp.coo_matrix((np.array([2**60, 2]), ([0, 1], [0, 1])))), ValueError,
     "X: whole numbers above 2^53"),
    (lambda: udv.complete((np.array([0, 2**63], dtype=np.uint64), [0, 1], [1.0, 2.0])), ValueError,
     "X[0]: whole numbers above 2^53"),
    (lambda: udv.sense(np.ones((4, 4)), np.ones(4), shape="22"), ValueError, "shape: '22' found"),
    (lambda: udv.sense(np.ones((4, 4)), np.ones(4), shape=(1, 2, 2)), ValueError, "shape: (1, 2, 2)"),
    (lambda: udv.sense(sp.eye(4), np.ones(4), shape=(2, 2)), TypeError, "A: a sparse matrix found"),
    (lambda: udv.sense(np.full((4, 2, 2), np.nan), np.ones(4)), ValueError, "A: A_0|not finite"),
    (lambda: udv.read_run(3), TypeError, "folder: int found, a path expected"),
    (lambda: udv.complete(SQUARE).save(3), TypeError, "folder: int found"),
    (lambda: udv.complete(SQUARE).predict([0, 1, 2], [0, 1]), ValueError, "j: shape (2,) found"),
    (lambda: udv.complete(SQUARE).fold_in(([], [], [])), ValueError, "rows[2]: an empty array"),
])
def test_more_arguments(call, error, words):
    expect(error, words, call)


OPTICS = dict(wavelength_m=5e-7, numerical_aperture=0.1, pixel_m=1e-6, led_pitch_mm=4,
              led_distance_mm=80)


@pytest.mark.parametrize("setup, error, words", [
    ({"pixel_m": "a"}, TypeError, "setup['pixel_m']: 'a' found, a number"),
    ({"upsampling": 1.5}, TypeError, "setup['upsampling']: 1.5 found, a whole number"),
    ({"leds": "abc"}, TypeError, "setup['leds']|numbers"),
    ({"mask": [[1, 0]]}, ValueError, "setup: a mask of another shape found"),
    ({"leds": [1, 2, 3]}, ValueError, "setup['leds']: shape (3,) found"),
    ({"pupil": "x"}, TypeError, "setup['pupil']|numbers"),
    ({"wavelenght": 1}, ValueError, "'wavelenght' found|did you mean wavelength_m?"),
])
def test_optics(setup, error, words):
    expect(error, words, lambda: udv.ptychography(np.ones((3, 8, 8)), {**OPTICS, **setup}))


@pytest.mark.parametrize("y, how, error, words", [
    (np.arange(6.0), {"task": "regresion"}, ValueError, "task: 'regresion' found"),
    (np.array([1, "a", None] * 2, dtype=object), {}, TypeError, "y: labels of several types"),
    (np.ma.masked_less(np.arange(6.0), 2), {}, ValueError, "y: an array with masked values"),
    (np.arange(6.0), {"test": 3}, TypeError, "test: int found, (X, y)"),
    (np.arange(6.0), {"test": (np.ones((2, 2)), np.ones(2))}, ValueError, "test[0]: 2 features"),
    (np.arange(6.0), {"test": (np.ones((2, 3)), np.ones(4))}, ValueError, "test[1]: 4 targets"),
    (np.arange(6) % 2, {"test": (np.ones((2, 3)), [0, 7])}, ValueError, "test[1]: the label 7"),
])
def test_targets(y, how, error, words):
    expect(error, words, lambda: udv.train(np.eye(6, 3), y, epochs=1, **how))


def test_long_tables():
    pd = pytest.importorskip("pandas")
    long = pd.DataFrame({"u": list("aabbc"), "i": [1, 2, 1, 2, 1], "r": [1.0, 2, 2, 4, 3],
                         "zero": 0.0, "text": list("vwxyz")})
    keys = dict(row="u", column="i", value="r")
    expect(ValueError, "std: a standard deviation of 0", lambda: udv.complete(long, **keys, std="zero"))
    expect(TypeError, "std: columns that are no numbers found (text)",
           lambda: udv.complete(long, **keys, std="text"))
    expect(TypeError, "weight: list found, the name of a column",
           lambda: udv.complete(long, **keys, weight=[1, 2]))
    expect(ValueError, "weight: 2 values found, 5 expected",
           lambda: udv.complete(long, **keys, weight=np.ones(2)))
    assert udv.complete(long, **keys, weight=np.ones(5)).rank == 1
    expect(TypeError, "row: keys of several types found (int, str)",
           lambda: udv.complete(long, **keys, symmetric=True))
    dates = pd.DataFrame({"a": pd.to_datetime(["2020", "2021"]), "b": [1.0, 2.0]})
    expect(TypeError, "X: columns that are no numbers found (a)", lambda: udv.complete(dates))
    twice = pd.DataFrame(np.eye(6, 3), columns=["a", "a", "b"])
    expect(ValueError, "X: the column label 'a' found twice",
           lambda: udv.train(twice, np.arange(6.0), epochs=1))


def test_rows_of_a_test_table_are_found_by_their_labels():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.outer([1.0, 2, 3, 4], [1.0, 2, 3]), index=list("abcd"))
    test = X.iloc[[2, 0]] + 0.5
    assert abs(udv.complete(X, test=test).test_rmse - 0.5) < 1e-9
    expect(ValueError, "test: the row 'z' found", lambda: udv.complete(X, test=X.rename({"a": "z"})))


def test_estimators():
    pytest.importorskip("sklearn")
    from udv.sklearn import LowRankImputer, MatrixCompletion, UDVRegressor

    hidden = np.ma.masked_equal(np.where(np.isnan(SQUARE), -99.0, SQUARE), -99.0)
    np.testing.assert_array_equal(LowRankImputer().fit_transform(hidden),
                                  LowRankImputer().fit_transform(SQUARE))
    expect(ValueError, "X: an array with masked values",
           lambda: UDVRegressor(epochs=1).fit(hidden, [1.0, 2.0, 3.0]))
    expect(ValueError, "scale: 'often' found", lambda: LowRankImputer(scale="often").fit(SQUARE))
    pairs, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [1.0, 2.0, 2.0, 4.0]
    expect(ValueError, "sample_weight: shape (3,) found, (4,) expected",
           lambda: MatrixCompletion().fit(pairs, y, sample_weight=[1, 1, 1]))
    expect(ValueError, "n: 0 found", lambda: MatrixCompletion().fit(pairs, y).recommend([0], n=0))
    mixed = np.array([[1, "a"], [2, 3], [1, 3]], dtype=object)
    expect(TypeError, "column: keys of several types", lambda: MatrixCompletion().fit(mixed, [1, 2, 3]))
