# SPDX-License-Identifier: MIT
"""The other jobs, run folders and the command line's bits."""

import inspect
import pickle
import subprocess

import numpy as np
import pytest

import udv


@pytest.fixture
def planted(rng):
    A = rng.normal(size=(150, 10, 8))
    X = np.outer(rng.normal(size=10), rng.normal(size=8))
    return A, np.tensordot(A, X, 2), X


def test_sense(planted):
    A, b, X = planted
    for given in (A, A.reshape(150, 80)):
        answer = udv.sense(given, b, shape=(10, 8))
        assert answer.rank == 1 and np.abs(answer.matrix() - X).max() < 1e-9
    assert pickle.loads(pickle.dumps(answer)).rank == 1


def test_sense_by_an_operator(planted):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A, b, X = planted
    answer = udv.sense(linalg.aslinearoperator(A.reshape(150, 80)), b, shape=(10, 8))
    assert np.abs(answer.matrix() - X).max() < 1e-9

    def broken(_):
        raise RuntimeError("no light")

    operator = linalg.LinearOperator((150, 80), matvec=broken, rmatvec=broken, dtype=float)
    with pytest.raises(RuntimeError, match="no light"):
        udv.sense(operator, b, shape=(10, 8))


def test_sense_symmetric(rng):
    U = rng.normal(size=(8, 2))
    A = rng.normal(size=(200, 8, 8))
    for X, how in ((U @ U.T, True), (U @ np.diag([1, -1]) @ U.T, "indefinite")):
        answer = udv.sense(A, np.tensordot(A, X, 2), symmetric=how)
        assert np.abs(answer.matrix() - X).max() < 1e-7


def test_retrieve_phase(rng):
    x = rng.normal(size=12) + 1j * rng.normal(size=12)
    A = rng.normal(size=(90, 12)) + 1j * rng.normal(size=(90, 12))
    answer = udv.retrieve_phase(A, np.abs(A @ x) ** 2, truth=x)
    assert answer.facts["relative_error"] < 1e-9
    assert np.allclose(answer.amplitude, np.abs(x)) and answer.x.shape == (12,)
    real = udv.retrieve_phase(A.real, (A.real @ x.real) ** 2)
    assert real.x.dtype == np.float64 and np.allclose(real.amplitude, np.abs(x.real))


def test_masks(rng):
    x = rng.normal(size=(8, 8)) + 1j * rng.normal(size=(8, 8))
    masks = np.exp(2j * np.pi * rng.random((8, 8, 8)))
    answer = udv.retrieve_phase(masks, np.abs(np.fft.fft2(masks * x)) ** 2, map="masks", truth=x)
    assert answer.x.shape == (8, 8) and answer.facts["relative_error"] < 1e-6


def test_prior_knowledge(rng):
    x = np.maximum(rng.normal(size=64), 0)
    A = rng.normal(size=(80, 64)) + 1j * rng.normal(size=(80, 64))
    b = np.abs(A @ x) ** 2
    answer = udv.retrieve_phase(A, b, nonnegative=True)
    assert np.allclose(answer.x, x, atol=1e-8)
    answer = udv.retrieve_phase(A, b, support=x > 0)
    assert np.allclose(answer.amplitude, x, atol=1e-8)
    with pytest.raises(ValueError, match="support: shape"):
        udv.retrieve_phase(A, b, support=np.ones(5))
    with pytest.raises(ValueError, match="support: all values are zero"):
        udv.retrieve_phase(A, b, support=np.zeros(64))


def test_one_diffraction_pattern(rng):
    image = np.zeros((32, 32))
    for top, left in rng.integers(0, 13, size=(10, 2)):
        image[top:top + 3, left:left + 3] += rng.random((3, 3))
    with pytest.warns(UserWarning, match="inverted copy"):
        answer = udv.retrieve_phase(None, np.abs(np.fft.fft2(image)) ** 2, nonnegative=True,
                                    truth=image)
    assert answer.x.shape == (32, 32) and answer.facts["relative_error"] < 1e-6


def spiral(count):
    steps = [(0, 0)]
    length, direction = 1, 0
    while len(steps) < count:
        for _ in range(2):
            for _ in range(length):
                dx, dy = [(1, 0), (0, 1), (-1, 0), (0, -1)][direction % 4]
                steps.append((steps[-1][0] + dx, steps[-1][1] + dy))
            direction += 1
        length += 1
    return steps[:count]


def ptychographic_images():
    """25 images of 32 x 32 pixels of a 64 x 64 sample, and their optics: the model is
    |F^-1 (pupil * window)|^2 with windows of the centred spectrum."""
    setup = {"wavelength_m": 532e-9, "numerical_aperture": 0.1, "pixel_m": 1.8e-6,
             "led_pitch_mm": 4, "led_distance_mm": 90, "kind": "amplitude"}
    n = np.arange(64 * 64)
    sample = (2 + np.sin(n % 64 / 5 + n / 700)).reshape(64, 64)
    spectrum = np.fft.fftshift(np.fft.fft2(sample)) / 64
    f = (np.arange(32) - 16) / (32 * setup["pixel_m"])
    pupil = np.hypot(*np.meshgrid(f, f)) <= setup["numerical_aperture"] / setup["wavelength_m"]
    images = []
    for x, y in spiral(25):
        r = 4 * np.hypot(x, y)
        na, angle = r / np.hypot(r, 90), np.arctan2(y, x)
        shift = na * 32 * setup["pixel_m"] / setup["wavelength_m"]
        col = 16 + int(np.round(shift * np.cos(angle)))
        row = 16 + int(np.round(shift * np.sin(angle)))
        field = np.fft.ifft2(np.fft.ifftshift(pupil * spectrum[row:row + 32, col:col + 32])) * 32
        images.append(np.abs(field))
    return np.array(images), setup, sample


def test_ptychography():
    images, setup, sample = ptychographic_images()
    answer = udv.ptychography(images, setup)
    assert answer.x.shape == (64, 64) and answer.pupil.shape == (32, 32)
    assert answer.facts["amplitude_residual"] < 0.02
    assert np.corrcoef(answer.amplitude.ravel(), sample.ravel())[0, 1] > 0.99
    # A blot that is masked changes nothing; LEDs in the mirrored order are those of a mirrored raster.
    blot = np.zeros((32, 32))
    blot[5:9, 20:24] = 1
    spoiled = np.where(blot, 30 * images.max(), images)
    leds = [(-x, y) for x, y in spiral(25)]
    masked = udv.ptychography(spoiled, {**setup, "mask": blot, "leds": leds, "mirrored": True})
    assert masked.x.shape == (64, 64)
    assert np.corrcoef(masked.amplitude.ravel(), sample.ravel())[0, 1] > 0.98


def test_train_values_and_classes(rng):
    X = rng.normal(size=(400, 4))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3
    model = udv.train(X, y, bias=True, lr=0.02, epochs=60, scaling="standard")
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.99
    labels = np.where(y > 3, "high", "low")
    model = udv.train(X, labels, bias=True, lr=0.02, epochs=60, scaling="standard")
    assert np.mean(model.predict(X) == labels) > 0.95
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert list(model.classes) == ["high", "low"]
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert {"epoch", "train_loss"} <= set(model.history)


def test_train_on_a_table_with_words(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": rng.uniform(20, 200, 300),
                          "town": rng.choice(["Aa", "Bb, Cc", "Dd"], 300)})
    price = 2 * frame["size"] + 100 * (frame["town"] == "Dd") + 7.0
    model = udv.train(frame, price, encoding="onehot", bias=True, lr=0.02, epochs=100)
    assert np.corrcoef(model.predict(frame), price)[0, 1] > 0.98
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(frame[["town", "size"]]), model.predict(frame))
    with pytest.raises(ValueError, match="X: no column 'town' found"):
        model.predict(frame[["size"]])
    with pytest.raises(TypeError, match="X: ndarray found, a DataFrame"):
        model.predict(frame[["size"]].to_numpy())


def test_prune_and_export(rng, tmp_path):
    X = rng.normal(size=(200, 6))
    model = udv.train(X, X[:, 0] - X[:, 1], epochs=30, hidden=12)
    small = model.prune(rank=2, layered=True)
    assert small.pruning["neurons"] == (12, 2) and small.sizes == (6, 2, 1)
    by_data = udv.prune(model, X, X[:, 0] - X[:, 1], max_drop=0.5)
    assert by_data.parameters <= model.parameters
    folder = udv.export(model, tmp_path / "onnx", to="onnx")
    assert (folder / "model.onnx").exists()
    model.save(tmp_path / "model.safetensors")
    again = udv.Model.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="rank"):
        model.prune()


def test_a_folder_with_a_run_is_not_overwritten_unasked(holes, tmp_path):
    udv.complete(holes, out=tmp_path / "run", seed=1)
    with pytest.raises(ValueError, match="finished run.*force"):
        udv.complete(holes, out=tmp_path / "run", seed=2)
    assert udv.read_run(tmp_path / "run")["seed"] == 1
    udv.complete(holes, out=tmp_path / "run", seed=2, force=True)
    assert udv.read_run(tmp_path / "run")["seed"] == 2


def test_runs_on_disk(holes, tmp_path):
    answer = udv.complete(holes, out=tmp_path / "run")
    assert answer.folder == str(tmp_path / "run")
    run = udv.read_run(tmp_path / "run")
    assert run["rank"] == 3 and np.array_equal(run.U, answer.U)
    assert run.history["objective"].size == len(answer.history["objective"])
    again = run.recovery()
    assert again.rank == 3 and np.allclose(again.matrix(), answer.matrix())
    assert np.allclose(again.fold_in(holes[:4]).matrix(), answer.fold_in(holes[:4]).matrix())
    answer.save(tmp_path / "saved")
    assert np.array_equal(udv.read_run(tmp_path / "saved").U, answer.U)
    with pytest.raises(udv.IoError, match="nothing.npy"):
        run.array("nothing")


def test_report_is_a_page(holes, tmp_path):
    answer = udv.complete(holes)
    assert answer.report().lstrip().lower().startswith("<!doctype html")
    assert answer.report(tmp_path / "page.html") == str(tmp_path / "page.html")


def command(program, *words):
    subprocess.run([program, *map(str, words), "--quiet"], check=True, capture_output=True)


def test_same_bits_as_the_command(program, holes, planted, rng, tmp_path):
    noisy = holes + 0.1 * rng.normal(size=holes.shape)
    np.save(tmp_path / "X.npy", noisy)
    command(program, "complete", tmp_path / "X.npy", "--out", tmp_path / "c", "--seed", 5)
    run, answer = udv.read_run(tmp_path / "c"), udv.complete(noisy, seed=5)
    for name in ("U", "d", "V"):
        assert np.array_equal(getattr(run, name), getattr(answer, name)), name
    by_path = udv.complete(tmp_path / "X.npy", seed=5, out=tmp_path / "p")
    assert np.array_equal(by_path.U, run.U)

    A, b, _ = planted
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    command(program, "sense", tmp_path / "A.npy", tmp_path / "b.npy", "--out", tmp_path / "s")
    assert np.array_equal(udv.read_run(tmp_path / "s").U, udv.sense(A, b).U)
    shifted = np.empty(A.size + 1)[1:].reshape(A.shape)  # at another place in memory
    shifted[...] = A
    assert np.array_equal(udv.read_run(tmp_path / "s").U, udv.sense(shifted, b).U)

    intensities = np.tensordot(A[:, :, 0], np.arange(1.0, 11.0), 1) ** 2
    np.save(tmp_path / "W.npy", A[:, :, 0])
    np.save(tmp_path / "i.npy", intensities)
    command(program, "phase", tmp_path / "W.npy", tmp_path / "i.npy", "--out", tmp_path / "x")
    assert np.array_equal(udv.read_run(tmp_path / "x").x,
                          udv.retrieve_phase(A[:, :, 0], intensities).x)


def test_same_network_as_the_command(program, rng, tmp_path):
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    np.savez(tmp_path / "d.npz", X=X, y=y)
    command(program, "train", tmp_path / "d.npz", "--out", tmp_path / "n", "--epochs", 5,
            "--task", "regression")
    theirs, ours = udv.Model.load(tmp_path / "n"), udv.train(X, y, epochs=5)
    for name, array in theirs.arrays.items():
        assert np.array_equal(array, ours.arrays[name]), name


def test_threads_do_not_matter(holes, rng):
    noisy = holes + 0.1 * rng.normal(size=holes.shape)
    assert np.array_equal(udv.complete(noisy, threads=1).U, udv.complete(noisy, threads=2).U)


@pytest.mark.parametrize("function", [udv.complete, udv.sense, udv.retrieve_phase,
                                      udv.ptychography, udv.train, udv.prune, udv.export])
def test_help_names_every_keyword(function):
    text = inspect.getdoc(function)
    for name, parameter in inspect.signature(function).parameters.items():
        assert f"{name} :" in text or f"{name}," in text or f", {name}" in text, name
    assert "{options}" not in text and "{watching}" not in text


def test_docstring_examples_hold():
    import doctest

    assert doctest.testmod(udv).failed == 0
    from udv import _recover_jobs

    assert doctest.testmod(_recover_jobs).failed == 0


def test_stub_names_everything():
    import ast
    from pathlib import Path

    path = Path(udv.__file__).with_name("__init__.pyi")
    if not path.exists():
        pytest.skip("a build makes the stub")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    named = {getattr(node, "name", None) for node in body} | {
        node.target.id for node in body if isinstance(node, ast.AnnAssign)}
    assert set(udv.__all__) <= named


def test_a_completion_goes_on_with_more_data(tmp_path, low_rank, rng):
    """`--from` of the command: Python keeps the word for itself, the keyword is from_."""
    i, j = np.nonzero(rng.random(low_rank.shape) < 0.6)
    for name, part in (("first", i < 35), ("second", i >= 35)):
        lines = [f"{r},{c},{low_rank[r, c]:.17g}" for r, c in zip(i[part], j[part])]
        (tmp_path / f"{name}.csv").write_text("row,column,value\n" + "\n".join(lines) + "\n")
    udv.complete(tmp_path / "first.csv", out=tmp_path / "run")
    answer = udv.complete(tmp_path / "second.csv", from_=tmp_path / "run")
    assert answer.shape == low_rank.shape and answer.rank == 3
    np.testing.assert_allclose(answer.matrix(), low_rank, atol=1e-8)
    assert "from_ : path, optional" in udv.complete.__doc__
    with pytest.raises(TypeError, match="from_: goes with a file, X is ndarray"):
        udv.complete(low_rank, from_=tmp_path / "run")
    with pytest.raises(udv.IoError, match="nowhere: no such folder"):
        udv.complete(tmp_path / "second.csv", from_=tmp_path / "nowhere")
    with pytest.raises(TypeError, match="no keyword 'seed_'; did you mean seed"):
        udv.complete(low_rank, seed_=1)
