# SPDX-License-Identifier: MIT
"""Warnings, and how the messages of a job reach the user."""

from __future__ import annotations

import warnings


class ConvergenceWarning(UserWarning):
    """A run that diverged, or reached a limit short of its tolerance."""


class DataWarning(UserWarning):
    """What the data leave open, or something odd about them."""


_STACK = 4  # the caller of udv.complete and its like


def report(outcome: str, why: str, warned: list, notices: list) -> None:
    """Warns about a run that did not reach its goal, and about its data."""
    if notices:
        import logging

        for text in notices:
            logging.getLogger("udv").info(text)
    if outcome == "limited":
        warnings.warn(why, ConvergenceWarning, stacklevel=_STACK)
    for text in warned:
        warnings.warn(text, DataWarning, stacklevel=_STACK)
