# SPDX-License-Identifier: MIT
"""What is shown and called while a job runs."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One recorded step of a job: what `callback` is called with."""

    iteration: int
    seconds: float
    objective: float
    rank: int
    norm_u: float
    max_d: float
    step: float


class Watcher:
    """Calls a function for each recorded step and draws a bar where tqdm is installed."""

    def __init__(self, callback, progress: bool):
        self.callback = callback
        self.tqdm = _tqdm() if progress else None
        self.bar = None

    def begin(self, iterations, seconds, words):
        self.total, self.limit, self.words = iterations, seconds, words
        if self.tqdm is not None:
            self.bar = self.tqdm(total=iterations or None, unit=f" {words[0]}s", leave=False)

    def step(self, *values):
        step = Step(*values)
        if self.bar is not None:
            self.bar.update(max(0, step.iteration - self.bar.n))
            figures = {self.words[1]: f"{step.objective:.2e}", self.words[2]: step.rank}
            self.bar.set_postfix(figures, refresh=False)
        if self.callback is not None:
            self.callback(step)

    def end(self):
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def watcher(callback, progress):
    """None where nobody watches."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback: {type(callback).__name__} found, a function expected")
    return Watcher(callback, progress) if callback is not None or progress else None


def _tqdm():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
