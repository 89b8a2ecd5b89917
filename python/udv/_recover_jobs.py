# SPDX-License-Identifier: MIT
"""Recovery: from entries, linear measurements, intensities and images."""

from __future__ import annotations

import os

import numpy as np

from . import _data, _udv
from ._docs import job
from ._errors import report
from ._recovery import ImageRecovery, PhaseRecovery, Recovery
from ._watch import watcher

_FILE_ONLY = ("base", "layout", "from_")


def _given(options: dict) -> dict:
    return {name: value for name, value in options.items() if value is not None}


def _report(answer, warned, notices):
    why = ""
    if answer.outcome == "limited":
        why = f"udv stopped short of its goal ({answer.facts['stop_reason']}): " \
              "more iterations or time, or another step, may help"
    # What the run itself warned of includes the notes on data that the listener heard.
    report(answer.outcome, why, warned, notices)


def _is_symmetric(symmetric) -> bool:
    return symmetric is True or symmetric in ("psd", "indefinite")


@job("complete", hidden=("file", "predict", "base", "layout", "rows", "yes"))
def complete(X, *, row=None, column=None, value=None, weight=None, std=None, test=None, shape=None,
             symmetric=None, callback=None, progress=False, **options) -> Recovery:
    """Fill in a matrix from some of its entries, without being told its rank.

    Parameters
    ----------
    X : array with NaN, sparse matrix, DataFrame, (i, j, v), or path
        The known entries. NaN marks the unknown in arrays and wide tables; masked values are
        unknown, too. Every stored entry of a `scipy.sparse` matrix is known, zeros included. A long
        table has one entry in each row: give the names `row`, `column` and `value`. A path is read
        as by the command `udv complete`.
    row, column, value : str, optional
        Columns of a long table.
    weight : array or str, optional
        Weights of the squared residuals: an array like X, or the name of a column. 0 leaves an
        entry out.
    std : array or str, optional
        Standard deviations of the entries instead of weights.
    test : like X, optional
        Entries to measure the error on (`test_rmse`).
    shape : (int, int), optional
        Rows and columns of X for (i, j, v); default: the largest indices.
    symmetric : {'psd', 'indefinite'} or bool, optional
        X is symmetric: positive semidefinite (True) or indefinite.
    {watching}
    {options}

    Returns
    -------
    Recovery

    Examples
    --------
    >>> import numpy as np, udv
    >>> X = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
    >>> X[0, 0] = np.nan
    >>> udv.complete(X).rank
    1
    """
    options = _given({**options, "symmetric": symmetric})
    watch = watcher(callback, progress)
    if _data.is_path(X):
        options = _given({**options, "row": row, "column": column, "value": value,
                          "weight": weight, "std": std, "shape": shape})
        answer, warned, notices = _udv.complete_file(os.fspath(X), _data.optional_path(test, "test"), options,
                                                     watch)
        _report(answer, warned, notices)
        return Recovery(answer, "complete")
    for name in _FILE_ONLY:
        if name in options:
            raise TypeError(f"{name}: goes with a file, X is {type(X).__name__}")
    is_symmetric = _is_symmetric(symmetric)
    table = _data.table(X, symmetric=is_symmetric, row=row, column=column, value=value,
                        weight=weight, std=std, shape=shape)
    test_entries = None
    if test is not None:
        test_entries = _data.table(test, "test", symmetric=is_symmetric, row=row, column=column,
                                   value=value, shape=table.entries.shape, like=table).entries
        if test_entries.shape != table.entries.shape:
            raise ValueError(f"test: shape {test_entries.shape} found, {table.entries.shape} "
                             "expected, as X has it")
    answer, warned, notices = _udv.complete(table.entries, test_entries, _data.texts(table.rows),
                                            _data.texts(table.columns), options, watch)
    _report(answer, warned, notices)
    return Recovery(answer, "complete", table)


def _values(b, count: int, name: str = "b"):
    b = _data.finite(b, name, ndim=(1, 2, 3)).ravel()
    if b.size != count:
        raise ValueError(f"{name}: {b.size} values found, {count} expected, one for each "
                         "measurement")
    if not b.any():
        raise ValueError(f"{name}: all {b.size} values are zero, at least one other expected")
    return b


def _sensing_shape(A, shape, rank_one: bool):
    """Rows and columns of X, from the array's shape or from the argument."""
    if rank_one:
        if A.ndim != 2:
            raise ValueError(f"A: shape {A.shape} found, n x p expected for rank-one measurements")
        return A.shape[1], A.shape[1]
    if A.ndim == 3:
        if shape is not None and _data.two_sizes(shape) != A.shape[1:]:
            raise ValueError(f"shape: {tuple(shape)} found, {A.shape[1:]} expected, as A has it")
        return A.shape[1:]
    if shape is None:
        raise ValueError(f"A: shape {A.shape} found, n x p x q expected; for n x (p q) give shape")
    rows, columns = _data.two_sizes(shape)
    if rows * columns != A.shape[1]:
        raise ValueError(f"A: shape {A.shape} found, n x {rows * columns} expected for a "
                         f"{rows} x {columns} matrix")
    return rows, columns


def _is_operator(A) -> bool:
    return callable(getattr(A, "matvec", None)) and callable(getattr(A, "rmatvec", None))


@job("sense", hidden=("A", "b"))
def sense(A, b, *, shape=None, symmetric=None, callback=None, progress=False,
          **options) -> Recovery:
    """Recover a matrix X from linear measurements b_i = <A_i, X>.

    Parameters
    ----------
    A : array, scipy.sparse.linalg.LinearOperator, or path
        The A_i: n x p x q, or n x (p q) with `shape`; n x p for operator='rank-one'. An operator
        maps the p q entries of X, row by row, to the n values; it needs matvec and rmatvec. The
        array is not copied unless X is symmetric.
    b : array or path
        The n measured values.
    shape : (int, int), optional
        Rows and columns of X where A does not tell.
    symmetric : {'psd', 'indefinite'} or bool, optional
        X is symmetric: positive semidefinite (True) or indefinite.
    {watching}
    {options}

    Returns
    -------
    Recovery
    """
    options = _given({**options, "symmetric": symmetric})
    watch = watcher(callback, progress)
    if _data.is_path(A):
        options = _given({**options, "shape": shape})
        answer, warned, notices = _udv.sense_files(os.fspath(A), _data.optional_path(b, "b"), options, watch)
    elif _is_operator(A):
        if shape is None:
            raise ValueError("shape: nothing found, (rows, columns) of X expected with an "
                             "operator")
        rows, columns = _data.two_sizes(shape)
        if tuple(A.shape)[1] != rows * columns:
            raise ValueError(f"A: shape {tuple(A.shape)} found, n x {rows * columns} expected for "
                             f"a {rows} x {columns} matrix")
        answer, warned, notices = _udv.sense_operator(
            A.matvec, A.rmatvec, _values(b, A.shape[0]), (rows, columns), options, watch)
    else:
        array = _data.numbers(A, "A", ndim=(2, 3))
        form = _sensing_shape(array, shape, options.get("operator") == "rank-one")
        if min(form) < 2:
            raise ValueError(f"A: X is {form[0]} x {form[1]}, at least 2 x 2 expected")
        if _is_symmetric(symmetric) and form[0] != form[1]:
            raise ValueError(f"A: X is {form[0]} x {form[1]}, square expected where symmetric")
        values = _values(b, array.shape[0])
        try:
            answer, warned, notices = _udv.sense(array, values, form, options, watch)
        except ValueError as error:
            if not str(error).startswith("dense: "):
                raise
            raise ValueError("A: " + str(error)[len("dense: "):]) from None
    _report(answer, warned, notices)
    return Recovery(answer, "sense")


def _support(support, shape):
    """Where x may differ from zero, as zeros and ones."""
    if support is None:
        return np.empty(0)
    inside = _data.finite(np.asarray(support, dtype=float), "support", ndim=(1, 2)) != 0
    if inside.shape != tuple(shape):
        raise ValueError(f"support: shape {inside.shape} found, {tuple(shape)} as x has expected")
    if not inside.any():
        raise ValueError("support: all values are zero, at least one entry of x that may differ "
                         "expected")
    return inside.ravel().astype(np.float64)


@job("phase", hidden=("A", "b"))
def retrieve_phase(A, b, *, support=None, truth=None, callback=None, progress=False,
                   **options) -> PhaseRecovery:
    """Recover x from intensities b_i = |<a_i, x>|^2.

    Parameters
    ----------
    A : array
        Rows a_i, n x p, real or complex; or masks, m x rows x columns, with map='masks', where
        b = |fft2(mask * x)|^2; or None, where b is one diffraction pattern |fft2(x)|^2, rows x
        columns.
    b : array
        The intensities, none negative.
    support : array, optional
        Where x may differ from zero (nonzero values), in the shape of x. For one diffraction
        pattern the first half of the rows and columns unless given.
    truth : array, optional
        The true x: its error is in `facts['relative_error']`.
    {watching}
    {options}

    Returns
    -------
    PhaseRecovery
        With `x`, `amplitude` and `phase`. x is known up to a factor of modulus 1.
    """
    options = _given(options)
    watch = watcher(callback, progress)
    masks = options.get("map") == "masks" or A is None
    if A is None:
        pattern = _data.finite(b, "b", ndim=(2,))
        A = np.ones((1, *pattern.shape))
        if support is None:
            support = np.zeros(pattern.shape)
            support[:(pattern.shape[0] + 1) // 2, :(pattern.shape[1] + 1) // 2] = 1
    array = _data.finite(A, "A", ndim=(3,) if masks else (2,), complex_too=True)
    intensities = _values(b, array.size if masks else array.shape[0])
    if (intensities < 0).any():
        at = int(np.argmax(intensities < 0))
        raise ValueError(f"b: {intensities[at]} found at [{at}], an intensity is not negative")
    shape = array.shape[1:]
    is_complex = masks or array.dtype.kind == "c"
    known = np.empty(0, dtype=np.complex128 if is_complex else np.float64)
    if truth is not None:
        known = _data.finite(truth, "truth", complex_too=is_complex).ravel()
        if known.size != np.prod(shape):
            raise ValueError(f"truth: {known.size} values found, {np.prod(shape)} expected")
    if masks:
        call, array = _udv.phase_masks, array.astype(np.complex128, copy=False)
    else:
        call = _udv.phase_complex if is_complex else _udv.phase_real
    inside = _support(support, shape)
    answer, warned, notices, x = call(array, intensities, known, inside, options, watch)
    _report(answer, warned, notices)
    recovery = PhaseRecovery(answer, x.reshape(shape))
    if truth is not None:
        recovery.facts["relative_error"] = answer.relative_error
    return recovery


def _checked_setup(setup: dict) -> dict:
    """The optics with values of the right types."""
    checked = {}
    for name, value in setup.items():
        if name == "leds":
            leds = _data.finite(value, "setup['leds']")
            if leds.ndim != 2 or leds.shape[1] != 2:
                raise ValueError(f"setup['leds']: shape {leds.shape} found, one (x, y) for each "
                                 "image expected")
            checked[name] = [tuple(pair) for pair in leds.tolist()]
        elif name == "pupil":
            checked[name] = _data.finite(value, "setup['pupil']", ndim=(2,), complex_too=True)
        elif name == "kind":
            checked[name] = str(value)
        elif name == "mask":
            checked[name] = np.asarray(value) != 0
        elif name in ("mirrored", "swapped"):
            checked[name] = bool(value)
        else:
            number = np.asarray(value)
            whole = name == "upsampling"
            if number.ndim != 0 or number.dtype.kind not in ("iu" if whole else "fiu"):
                raise TypeError(f"setup['{name}']: {value!r} found, a "
                                f"{'whole ' if whole else ''}number expected")
            checked[name] = value
    return checked


@job("ptychography", hidden=("data", "setup", "mask", "guess"))
def ptychography(images, setup, *, callback=None, progress=False, **options) -> ImageRecovery:
    """Recover a complex image from Fourier ptychographic measurements.

    Parameters
    ----------
    images : array (images x rows x columns) or path
        What the camera saw, one image for each LED; or a .mat, .npz or HDF5 file.
    setup : dict or path
        The optics: wavelength_m, numerical_aperture, pixel_m (on the sample), led_pitch_mm,
        led_distance_mm; optionally slide_thickness_mm, slide_index, rotation_degrees, x_offset_mm,
        y_offset_mm, defocus_m, mirrored, swapped (LED (x, y) stands at (-x, y), at (y, x)),
        upsampling (default: the smallest that holds all LEDs), kind ('intensity' or 'amplitude'),
        leds (a list of (x, y) in pitches; default: a spiral), pupil (an array) and mask (not 0
        where a pixel says nothing). With a file: the path of a TOML file.
    {watching}
    {options}

    Returns
    -------
    ImageRecovery
        With `x` (the complex image), `amplitude`, `phase` and `pupil`.
    """
    options = _given(options)
    watch = watcher(callback, progress)
    if _data.is_path(images):
        answer, warned, notices, image, pupil, figures = _udv.ptychography_files(
            os.fspath(images), _data.optional_path(setup, "setup"), options, watch)
    else:
        if not isinstance(setup, dict):
            raise TypeError(f"setup: {type(setup).__name__} found, a dict expected with an array")
        array = _data.finite(images, "images", ndim=(3,))
        answer, warned, notices, image, pupil, figures = _udv.ptychography(
            array, _checked_setup(setup), options, watch)
    _report(answer, warned, notices)
    return ImageRecovery(answer, image, pupil, figures)
