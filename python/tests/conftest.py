# SPDX-License-Identifier: MIT
"""Problems whose answers are known."""

import os

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def low_rank(rng):
    """A 60 x 40 matrix of rank 3."""
    return rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40))


@pytest.fixture
def holes(low_rank, rng):
    """The same with 40 % of its entries unknown."""
    table = low_rank.copy()
    table[rng.random(table.shape) < 0.4] = np.nan
    return table


@pytest.fixture
def program():
    """The command line program of the same build."""
    path = os.environ.get("UDV_PROGRAM", "")
    if not os.path.exists(path):
        pytest.skip("UDV_PROGRAM does not name the program udv")
    return path
