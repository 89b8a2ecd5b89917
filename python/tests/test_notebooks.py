# SPDX-License-Identifier: MIT
"""Every notebook runs top to bottom. With UDV_PICTURES set, their pictures are kept there."""

import json
import os
import warnings
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("pandas")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEEDS = {"adapter": ("torch", "peft", "transformers")}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path, monkeypatch, capsys):
    for package in NEEDS.get(path.stem, ()):
        pytest.importorskip(package)
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pictures = os.environ.get("UDV_PICTURES")
    drawn = []

    def show():
        drawn.append(pyplot.gcf())
        if pictures:
            pyplot.savefig(Path(pictures, f"{path.stem}-{len(drawn)}.png"), dpi=80)
        pyplot.close("all")

    monkeypatch.setattr(pyplot, "show", show)
    monkeypatch.chdir(EXAMPLES)
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), str(path), "exec"), names)
    assert drawn
