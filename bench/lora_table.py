#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tables of `bench_lora story`: perplexity by method, rank and learning rate, and at equal numbers of parameters.

usage: lora_table.py STORIES.jsonl
"""
import collections
import json
import math
import re
import statistics
import sys


def mean(values):
    text = f"{statistics.mean(values):.2f}"
    return text if len(values) < 2 else f"{text} ± {statistics.stdev(values):.2f}"


def grouped(stories, key):
    groups = collections.defaultdict(list)
    for story in stories:
        groups[key(story)].append(story)
    return sorted(groups.items())


def final(story):
    return story["perplexity"][-1]


def trainings(stories):
    print("| modules | method | rank | steps | parameters | perplexity | seeds | seconds |\n|---|---|---|---|---|---|---|---|")
    key = lambda s: (s["modules"], s["method"], s["rank"], s["optimizer"], s["lr"])
    for (modules, method, rank, optimizer, lr), same in grouped(stories, key):
        first = same[0]["first_rank"]
        ranks = f"{first} → {rank}" if method == "adalora" else rank
        seconds = statistics.mean(s["seconds"] for s in same)
        print(f"| {modules} | {method} | {ranks} | {optimizer} {lr:.3g} | {same[0]['parameters']} | {mean([final(s) for s in same])} "
              f"| {len(same)} | {seconds:.0f} |")


def cuts(stories):
    print("\nCut by calibration to the parameters of LoRA of rank 4, 8, 16:\n")
    print("| modules | from | parameters | perplexity | predicted | measured on the training text |\n|---|---|---|---|---|---|")
    for (modules, method, rank, lr), same in grouped(stories, lambda s: (s["modules"], s["method"], s["rank"], s["lr"])):
        done = [s for s in same if "cuts" in s]
        for kind in ("cuts", "max_loss"):
            for i in range(len(done[0][kind]) if done else 0):
                at = [s[kind][i] for s in done]
                count = statistics.mean(c[0] for c in at)
                print(f"| {modules} | {method} {rank} ({lr:.3g}) | {count:.0f} | {mean([c[1] for c in at])} "
                      f"| {statistics.mean(c[2] for c in at):.2e} | {statistics.mean(c[3] for c in at):.2e} |")


def bars(stories):
    print()
    for rank in (4, 16, 64):
        of = lambda method: [s for s in stories if (s["method"], s["rank"], s["modules"]) == (method, rank, "q,v")]
        means = [statistics.mean(map(final, same)) for _, same in grouped(of("lora"), lambda s: s["lr"])]
        best = min(filter(math.isfinite, means), default=math.nan)
        udv = statistics.mean(map(final, of("lora-udv"))) if of("lora-udv") else math.nan
        print(f"rank {rank}: lora-udv {udv:.3f}, lora at its best rate {best:.3f}, {100 * (udv / best - 1):+.1f} %")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        # Trainings that diverged have numbers that JSON does not know.
        stories = [json.loads(re.sub(r"-?\b(nan|inf)\b", "NaN", line)) for line in file if line.strip()]
    trainings(stories)
    cuts(stories)
    bars(stories)


if __name__ == "__main__":
    main()
