# SPDX-License-Identifier: MIT
"""Writes the type stub of the package: `python -m udv._stubs FOLDER`, called by the build."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import udv

from . import _udv

_HEAD = '''# SPDX-License-Identifier: MIT
# Made by udv._stubs from the option tables.
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union
import os

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Path = Union[str, os.PathLike[str]]

__version__: str

class IoError(OSError): ...
class ConvergenceWarning(UserWarning): ...
class DataWarning(UserWarning): ...
'''

_INPUTS = {
    "X": "Any", "A": "Any", "b": "Any", "y": "Any", "images": "Any", "setup": "Any",
    "model": "Any", "out": "_Path", "truth": "ArrayLike | None", "row": "Any", "column": "Any",
    "support": "ArrayLike | None", "value": "Any", "weight": "Any", "std": "Any", "test": "Any",
    "shape": "tuple[int, int] | None", "symmetric": "bool | str | None",
    "callback": "Callable[[Step], Any] | None", "progress": "bool", "task": "str",
    "target": "str | None", "targets": "_Path | None", "compare": "_Path | None",
}
_KINDS = {"NUMBER": "int | str", "REAL": "float", "auto|REAL": "float | str",
          "FILE": "_Path", "FOLDER": "_Path", "RUN": "_Path", "ROWS,COLUMNS": "tuple[int, int]",
          "LOW,HIGH": "tuple[float, float]", "A,B,...": "list[str] | str",
          "N,N,...": "list[int] | str", "auto|unit|none|REAL": "float | str"}
_JOBS = {"complete": "complete", "sense": "sense", "retrieve_phase": "phase",
         "ptychography": "ptychography", "train": "train", "prune": "prune", "export": "export"}


def _type_of(option: dict) -> str:
    if option["is_switch"]:
        return "bool | None"
    if option["choices"]:
        words = ", ".join(repr(word) for word in option["choices"])
        return f"Literal[{words}] | bool | None"
    return _KINDS.get(option["kind"], "str") + " | None"


def _function(name: str, job: str) -> str:
    options = {option["name"]: option for option in _udv.options(job)}
    lines, keywords = [], False
    for parameter in inspect.signature(getattr(udv, name)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            lines.append("*,")
            keywords = True
        kind = _INPUTS.get(parameter.name) or _type_of(options[parameter.name])
        default = "" if parameter.default is parameter.empty else " = ..."
        lines.append(f"{parameter.name}: {kind}{default},")
    result = {"retrieve_phase": "PhaseRecovery", "ptychography": "ImageRecovery", "train": "Model",
              "prune": "Any", "export": "Path"}.get(name, "Recovery")
    body = "\n    ".join(lines)
    return f"def {name}(\n    {body}\n) -> {result}: ...\n"


def _members(cls) -> str:
    annotations = {"facts": "dict[str, Any]", "certificate": "dict[str, Any]", "folder": "str",
                   "undetermined": "dict[str, Any]", "rank": "int", "noise": "float",
                   "history": "dict[str, NDArray[Any]]", "warnings": "list[str]",
                   "verdict": "str", "certified": "bool", "converged": "bool",
                   "shape": "tuple[int, int]", "test_rmse": "float | None", "task": "str",
                   "variant": "str", "sizes": "tuple[int, int, int]", "live_width": "int",
                   "parameters": "int", "arrays": "dict[str, NDArray[Any]]"}
    lines = []
    for name, value in vars(cls).items():
        if isinstance(value, property):
            lines.append(f"@property\n    def {name}(self) -> "
                         f"{annotations.get(name, 'NDArray[Any]')}: ...")
        elif isinstance(value, classmethod):
            lines.append(f"@classmethod\n    def {name}(cls, path: _Path) -> {cls.__name__}: ...")
        elif inspect.isfunction(value) and (not name.startswith("_") or name == "__init__"):
            if name != "__init__":
                lines.append(f"def {name}{_plain(inspect.signature(value))}: ...")
    return "\n    ".join(lines) or "..."


def _plain(signature: inspect.Signature) -> str:
    parts = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        star = {parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.name == "self":
            parts.append("self")
            continue
        default = "" if parameter.default is parameter.empty or star else " = ..."
        kind = "bool" if isinstance(parameter.default, bool) else "Any"
        parts.append(f"{star}{parameter.name}: {kind}{default}")
    result = signature.return_annotation
    return f"({', '.join(parts)}) -> {result if isinstance(result, str) else 'Any'}"


def stub() -> str:
    """The text of __init__.pyi."""
    parts = [_HEAD]
    steps = "".join(f"    {name}: {getattr(kind, '__forward_arg__', kind)}\n"
                    for name, kind in udv.Step.__annotations__.items())
    parts.append(f"class Step(NamedTuple):\n{steps}")
    for cls, base in ((udv.Recovery, ""), (udv.PhaseRecovery, "(Recovery)"),
                      (udv.ImageRecovery, "(PhaseRecovery)"), (udv.FoldedRows, "")):
        own = {"PhaseRecovery": "x: NDArray[Any]\n    ", "ImageRecovery": "pupil: NDArray[Any]\n    "}
        parts.append(f"class {cls.__name__}{base}:\n    {own.get(cls.__name__, '')}"
                     f"{_members(cls)}\n")
    parts.append(f"class Model:\n    classes: NDArray[Any]\n    figures: dict[str, Any]\n"
                 f"    history: dict[str, NDArray[Any]]\n    pruning: dict[str, Any] | None\n"
                 f"    {_members(udv.Model)}\n")
    parts.append(f"class Run(Mapping[str, Any]):\n    folder: Path\n"
                 f"    def __getitem__(self, key: str) -> Any: ...\n"
                 f"    def __iter__(self) -> Iterator[str]: ...\n"
                 f"    def __len__(self) -> int: ...\n    {_members(udv.Run)}\n")
    parts += [_function(name, job) for name, job in _JOBS.items()]
    parts.append("def read_run(folder: _Path) -> Run: ...\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1], "__init__.pyi").write_text(stub(), encoding="utf-8")
