#!/usr/bin/env python3
"""Fills a project's memory through anchord-mcp: saves of 600 lessons and 400 anchors each.

  scripts/measure/fill.py DIRECTORY SAVES
"""

import random
import sys

from session import Session

WORDS = """queue retry deploy cache token parser schema lock index socket batch worker metric
shard""".split()


def text(words):
    return " ".join(random.choice(WORDS) for _ in range(words))


def save(number):
    first = number * 1_000
    lines = f"{number * 4 + 1}-{number * 4 + 3}"
    return {
        "session_summary": f"save {number}",
        "lessons": [{"summary": f"{text(4)} {first + at}", "detail": text(12)} for at in range(600)],
        "anchors": [{"file": f"src/m{(first + at) % 5_000}.rs", "lines": lines, "concept": text(5)}
                    for at in range(400)],
    }


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    directory, saves = sys.argv[1], int(sys.argv[2])
    random.seed(1)
    session = Session(["anchord-mcp"], directory=directory)
    for number in range(saves):
        if session.call("memory_save", save(number)) is None:
            raise SystemExit(f"save {number + 1} failed")
        print(f"\r{number + 1} of {saves} saves", end="", file=sys.stderr)
    print(file=sys.stderr)
    session.end()


if __name__ == "__main__":
    main()
