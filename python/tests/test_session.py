# SPDX-License-Identifier: MIT
"""Callbacks, Ctrl-C, progress bars, threads and what import costs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import udv


def slow_job(**how):
    """A gradient run that would take minutes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 200))
    X[rng.random(X.shape) < 0.5] = np.nan
    return udv.complete(X, polish="off", step=1e-5, max_iterations=10**8, **how)


def test_callback_sees_the_steps(holes):
    steps = []
    answer = udv.complete(holes, callback=steps.append)
    assert steps and isinstance(steps[0], udv.Step)
    assert steps[-1].rank <= answer.rank
    assert [s.iteration for s in steps] == sorted(s.iteration for s in steps)


def test_exception_in_a_callback_stops_the_job():
    def stop(step):
        raise RuntimeError("enough")

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        slow_job(callback=stop)
    assert time.monotonic() - start < 30


@pytest.fixture
def ctrl_c_counts():
    """Where the tests run in the background of a shell, it has told them to ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_a_keyboard_interrupt_and_leaves_a_checkpoint(tmp_path, ctrl_c_counts):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        slow_job(out=tmp_path / "run")
    assert (tmp_path / "run" / "checkpoint.bin").exists()
    with pytest.warns(udv.ConvergenceWarning):
        answer = slow_job(out=tmp_path / "run", resume=True, time_limit=0.3)
    assert answer.facts["stop_reason"] == "time limit"


def test_other_threads_go_on():
    ticks = []
    running = True

    def tick():
        while running:
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.warns(udv.ConvergenceWarning):
        slow_job(time_limit=0.5)
    running = False
    thread.join()
    assert len(ticks) > 20  # it holds no lock while it works


def test_two_threads_at_once(holes, low_rank):
    answers = [None, None]

    def work(k):
        answers[k] = udv.complete(holes, threads=1).matrix()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(answers[0], answers[1])
    assert np.abs(answers[0] - low_rank).max() < 1e-9


def test_progress_bar(holes, capfd):
    pytest.importorskip("tqdm")
    udv.complete(holes, progress=True)
    assert "iterations" in capfd.readouterr().err


def test_import_leaves_large_packages_alone():
    code = ("import sys, udv; "
            "print([m for m in ('torch', 'sklearn', 'pandas', 'matplotlib', 'scipy', 'tqdm') "
            "if m in sys.modules])")
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True).stdout
    assert printed.strip() == "[]"


def test_no_copy_of_a_large_array():
    """A of 256 MB; the resident memory of the process grows by less than a tenth of it."""
    resource = pytest.importorskip("resource")
    code = """
import numpy as np, resource, udv, warnings
warnings.simplefilter("ignore")
A = np.ones((512, 256, 256))
A[:, 0, :] = np.arange(512)[:, None]
b = A.reshape(512, -1)[:, :40].sum(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
udv.sense(A, b, polish="off", step=1e-12, max_iterations=2, max_rank=2)
X = np.full((4096, 8192), np.nan)
X[::64, ::64] = 1 + np.outer(np.arange(64), np.arange(128))
after_sense = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
middle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
udv.complete(X, max_rank=3, time_limit=0.5)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after_sense - before - X.nbytes / 1024, after - middle)
"""
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True).stdout
    sensed, completed = map(float, printed.split())
    megabyte = 1024  # ru_maxrss is in kilobytes
    assert sensed < 26 * megabyte and completed < 26 * megabyte, (sensed, completed)


def _forked(table):
    return udv.complete(table).rank


def test_works_after_a_fork(holes):
    import multiprocessing

    assert udv.complete(holes).rank == 3  # the threads of this process are there
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_forked, [holes, holes]).get(timeout=120) == [3, 3]
