#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/performance.md from the rows that bench/run recorded.

usage: page.py PAGE ROWS.tsv BUILD_FOLDER [--machine TEXT] [--date TEXT] [--compiler TEXT]

Every part of bench/run has a section of its own on the page, with the date and the machine of its
rows. Sections of parts that are not in ROWS stay as they are.
A row has five fields: part, task, figure, what stands beside it, command.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

TITLES = {
    "fig1": "The paper's completion problem",
    "grid": "Rank grid",
    "size": "Large matrices",
    "sense": "Linear measurements",
    "kernels": "Cost of the kernels",
    "coded": "Coded diffraction",
    "sprites": "Phase retrieval",
    "ptycho": "Fourier ptychography",
    "heads": "Training of heads",
    "houses": "Training on House Prices",
    "mnist": "Training on MNIST",
    "prune": "Pruning",
    "sweep": "Sweeps",
    "reproduce": "Reproducing the paper",
    "report": "Reports",
    "inspect": "Looking into files",
    "gpu": "Deep networks on a GPU",
    "gpu-lora": "Adapters of language models on a GPU",
}
PREFACE = """# Performance

`make bench` measures these figures and writes this page. `bench/run BUILD_FOLDER PART...` measures some parts and keeps the
sections of the others; each section says when and where it was measured. Parts that read `$UDV_DATA` are skipped where the data
are missing. The two parts with a GPU have scripts of their own, `bench/gpu` and `bench/gpu-lora`.

Times are from one thread unless a row says otherwise. Other programs ("beside it") run in the same session on the same machine.
"""
COLUMNS = "| what | measured | beside it | command |\n|---|---|---|---|\n"


def lines_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    except OSError:
        return []


def machine():
    """Processor, number of cores, memory."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.+)", info)
    kib = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    name = model.group(1).strip() if model else "unknown processor"
    return f"{name}, {os.cpu_count()} cores, {int(kib.group(1)) / 2**20:.0f} GiB"


def compiler(build):
    """First line of `--version` of the compiler that the build folder was configured with."""
    cache = pathlib.Path(build) / "CMakeCache.txt"
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache.read_text(), re.M) if cache.exists() else None
    version = lines_of([found.group(1) if found else "c++", "--version"])
    return version[0] if version else "unknown compiler"


def sections(page):
    """Name -> text of the sections on a page that this script wrote."""
    parts = re.split(r"^<!-- part (\S+) -->\n", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def cell(text):
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def section(part, rows, stamp):
    table = "".join(
        f"| {cell(r['task'])} | {cell(r['figure'])} | {cell(r['beside'])} | `{cell(r['command'])}` |\n"
        for r in rows
    )
    return f"## {TITLES[part]}\n{stamp}\n\n{COLUMNS}{table}\n"


def read_rows(path):
    fields = ("part", "task", "figure", "beside", "command")
    lines = pathlib.Path(path).read_text().splitlines()
    return [dict(zip(fields, line.split("\t"))) for line in lines if line]


def write(path, text):
    """Whole or not at all."""
    new = pathlib.Path(f"{path}.new")
    new.write_text(text)
    new.replace(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("rows")
    parser.add_argument("build")
    parser.add_argument("--machine")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--compiler")
    given = parser.parse_args()
    facts = {
        "date": given.date,
        "machine": given.machine or machine(),
        "compiler": given.compiler or compiler(given.build),
    }
    rows = read_rows(given.rows)
    stamp = f"Measured {facts['date']}: {facts['machine']}; {facts['compiler']}."
    kept = sections(given.page.read_text()) if given.page.exists() else {}
    for part in {r["part"] for r in rows}:
        kept[part] = section(part, [r for r in rows if r["part"] == part], stamp)
    order = [part for part in TITLES if part in kept]
    body = "".join(f"<!-- part {part} -->\n{kept[part].rstrip()}\n\n" for part in order)
    write(given.page, PREFACE + "\n" + body.rstrip() + "\n")
    bench = pathlib.Path(given.build) / "bench"
    if rows and bench.is_dir():
        write(bench / "figures.json", json.dumps({**facts, "rows": rows}, indent=1) + "\n")


main()
