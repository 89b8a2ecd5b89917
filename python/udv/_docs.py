# SPDX-License-Identifier: MIT
"""Signatures and docstrings of jobs, made from the tables that describe their options."""

from __future__ import annotations

import inspect

from . import _udv

_WATCHING = """\
callback : function, optional
    Called with a `udv.Step` for each recorded step; an exception in it stops the job.
progress : bool, default False
    Draw a progress bar (tqdm), also in notebooks.
"""


def _type_text(option: dict) -> str:
    if option["is_switch"]:
        return "bool"
    if option["choices"]:
        return "{" + ", ".join(repr(word) for word in option["choices"]) + "}"
    kinds = {"NUMBER": "int", "REAL": "float", "auto|REAL": "float or 'auto'", "TEXT": "str",
             "FILE": "path", "FOLDER": "path", "RUN": "path", "ROWS,COLUMNS": "(int, int)",
             "LOW,HIGH": "(float, float)", "A,B,...": "list of str", "N,N,...": "list of int",
             "COLUMN": "str", "auto|unit|none|REAL": "'auto', 'unit', 'none' or float"}
    return kinds.get(option["kind"], "str")


def _default_text(option: dict) -> str:
    if option["name"] == "out":
        return "optional"
    if option["is_switch"]:
        return f"default {bool(option['value'])}"
    return f"default {option['default']}" if option["default"] else "optional"


def _describe(option: dict) -> str:
    unit = f" In {option['unit']}." if option["unit"] else ""
    text = "Folder for the results; without one nothing is written." \
        if option["name"] == "out" else option["help"] + "." + unit
    head = f"{option['name']} : {_type_text(option)}, {_default_text(option)}"
    return head + "\n" + _indented(text)


def _indented(text: str, width: int = 92) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join("    " + line for line in lines)


def _options_text(options: list) -> str:
    parts, group = [], None
    for option in options:
        if option["group"] != group:
            group = option["group"]
            if group:
                parts.append(f"\n*{group}*\n")
        parts.append(_describe(option))
    return "\n".join(parts)


def job(name: str, hidden: tuple = ()):
    """Completes the signature and the docstring of a function `f(inputs, *, ..., **options)`.

    The docstring names its own arguments; `{options}` in it is where the table's go.
    """

    def decorate(function):
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in own} | set(hidden)
        options = [o for o in _udv.options(name) if o["name"] not in taken and not o["positional"]]
        added = [inspect.Parameter(o["name"], inspect.Parameter.KEYWORD_ONLY, default=None)
                 for o in options]
        function.__signature__ = signature.replace(parameters=own + added)
        text = inspect.cleandoc(function.__doc__)
        function.__doc__ = text.replace("{watching}", _WATCHING.rstrip()).replace(
            "{options}", _options_text(options).rstrip("\n"))
        return function

    return decorate
