# SPDX-License-Identifier: MIT
"""Recover low-rank matrices and images, and train low-rank networks, without being told the rank.

>>> import numpy as np, udv
>>> X = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
>>> X[::3, ::2] = np.nan                       # NaN marks what is not known
>>> float(udv.complete(X).matrix()[0, 0].round(6))
1.0

`udv.complete`, `udv.sense`, `udv.retrieve_phase` and `udv.ptychography` recover; `udv.train`,
`udv.prune` and `udv.export` make networks; `udv.read_run` reads what a run left on disk.
`udv.sklearn`, `udv.torch` and `udv.peft` are imported when they are first used.
"""

from __future__ import annotations

from ._udv import IoError, __version__
from ._errors import ConvergenceWarning, DataWarning
from ._networks import Model, export, prune, train
from ._recovery import FoldedRows, ImageRecovery, PhaseRecovery, Recovery
from ._recover_jobs import complete, ptychography, retrieve_phase, sense
from ._runs import Run, read_run
from ._watch import Step

__all__ = [
    "ConvergenceWarning", "DataWarning", "FoldedRows", "ImageRecovery", "IoError", "Model",
    "PhaseRecovery", "Recovery", "Run", "Step", "__version__", "complete", "export", "prune",
    "ptychography", "read_run", "retrieve_phase", "sense", "train",
]

_LAZY = ("sklearn", "torch", "peft")


def __getattr__(name: str):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"udv.{name}")
    raise AttributeError(f"module 'udv' has no attribute '{name}'")


def __dir__():
    return sorted([*__all__, *_LAZY])
