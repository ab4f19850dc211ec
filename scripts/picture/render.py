#!/usr/bin/env python3
"""Draws an asciinema recording as an animated SVG, for pages that run no script.

  render.py FILE.cast FILE.svg

Each line appears when it was printed, and what was typed appears key by key. Pauses are shortened,
and the whole repeats. Without animation, or where the reader prefers reduced motion, the picture is
the last frame. Python's standard library is enough. Only what a recording of lines has is drawn:
text, line ends, colours and weights. A program that moves the cursor needs another tool.
"""

import json
import re
import sys
from html import escape

PAUSE_SECONDS_MAX = 1.2
HOLD_SECONDS = 7  # the last frame, before the recording begins again
TYPED_SECONDS_MIN = 0.2  # a line that took longer was typed
CELL, LINE, SIZE, MARGIN, BAR = 8.4, 20, 14, 18, 34

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
COLOURS = {31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}
STYLE = """
text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d5dae3;
white-space:pre}
.bold{font-weight:bold}.dim{fill:#8b93a3}.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#e3b341}
.blue{fill:#79c0ff}.magenta{fill:#d2a8ff}.cyan{fill:#76e3ea}.typed{fill:#fff;font-weight:bold}
.cover{fill:#12161e;opacity:0}
"""


def timed(events):
    """Yields times and texts, with pauses shortened."""
    before = shift = 0.0
    for at, kind, text in events:
        if kind == "o":
            shift += max(0.0, at - before - PAUSE_SECONDS_MAX)
            before = at
            yield at - shift, text


def lines_of(events, columns):
    """Returns the lines, each a list of cells: time, character and classes."""
    lines, classes = [[]], frozenset()
    for at, text in timed(events):
        place = 0
        while place < len(text):
            code = ESCAPE.match(text, place)
            if code:
                place = code.end()
                if code[2] == "m":
                    classes = styled(classes, code[1])
                continue
            character, place = text[place], place + 1
            if character == "\n" or (character >= " " and len(lines[-1]) == columns):
                lines.append([])
            if character >= " ":
                lines[-1].append((at, character, classes))
    return lines


def styled(classes, codes):
    for code in (int(code or 0) for code in codes.split(";")):
        if code == 0:
            classes = frozenset()
        elif code in (1, 2):
            classes |= {"bold" if code == 1 else "dim"}
        elif code in COLOURS:
            classes = classes - set(COLOURS.values()) | {COLOURS[code]}
    return classes


def runs_of(cells):
    """Splits a line where its classes change: pairs of the first column and the cells."""
    runs = []
    for column, cell in enumerate(cells):
        if runs and runs[-1][1][-1][2] == cell[2]:
            runs[-1][1].append(cell)
        else:
            runs.append((column, [cell]))
    return runs


class Line:
    """The markup and the animation of a line."""

    def __init__(self, number, cells, percent):
        self.number, self.cells, self.percent = number, cells, percent
        self.top = BAR + number * LINE
        keys = [cell for cell in cells if cell[0] > cells[0][0]]
        is_typed = bool(keys) and keys[-1][0] - keys[0][0] > TYPED_SECONDS_MIN
        self.keys = keys if is_typed else []

    def rules(self):
        name, shown = f"l{self.number}", self.percent(self.cells[0][0])
        yield (f"@keyframes {name}{{0%{{opacity:0}}{shown},to{{opacity:1}}}}"
               f".{name}{{animation-name:{name}}}")
        if self.keys:
            # A cover moves to the right, by a cell for each key.
            name, begun, ended = f"t{self.number}", self.keys[0][0], self.keys[-1][0]
            away = f"transform:translateX({len(self.keys) * CELL:.1f}px)"
            yield (f"@keyframes {name}{{0%{{opacity:1}}{self.percent(begun)}{{opacity:1;"
                   f"transform:none;animation-timing-function:steps({len(self.keys)})}}"
                   f"{self.percent(ended)}{{opacity:1;{away}}}"
                   f"{self.percent(ended + 0.01)},to{{opacity:0;{away}}}}}"
                   f".{name}{{animation-name:{name}}}")

    def body(self):
        if self.keys:
            column = len(self.cells) - len(self.keys)
            is_comment = self.keys[0][1] == "#"
            parts = [self.text(0, self.cells[:column], {"dim"}),
                     self.text(column, self.keys, {"green" if is_comment else "typed"}),
                     f'<rect class="cover t{self.number}" x="{MARGIN + column * CELL:.1f}" '
                     f'y="{self.top}" width="{len(self.keys) * CELL:.1f}" height="{LINE}"/>']
        else:
            parts = [self.text(column, run, run[0][2]) for column, run in runs_of(self.cells)]
        return f'<g class="l{self.number}">{"".join(parts)}</g>'

    def text(self, column, cells, classes):
        mark = f' class="{" ".join(sorted(classes))}"' if classes else ""
        return (f'<text x="{MARGIN + column * CELL:.1f}" y="{self.top + 15}"{mark} '
                f'textLength="{len(cells) * CELL:.1f}">{escape(said(cells))}</text>')


def said(cells):
    return "".join(cell[1] for cell in cells)


def draw(header, events):
    lines = lines_of(events, header["width"])
    while said(lines[-1]).strip() in ("", "$"):
        lines.pop()
    seconds = max(cell[0] for line in lines for cell in line) + HOLD_SECONDS
    drawn = [Line(number, cells, lambda at: f"{100 * at / seconds:.2f}%")
             for number, cells in enumerate(lines) if cells]
    rules = "\n".join(rule for line in drawn for rule in line.rules())
    motion = ("@media (prefers-reduced-motion:no-preference){g[class],.cover{"
              f"animation-duration:{seconds:.2f}s;animation-iteration-count:infinite;"
              f"animation-timing-function:step-end}}\n{rules}\n}}")
    width = round(header["width"] * CELL + 2 * MARGIN)
    height = BAR + len(lines) * LINE + MARGIN
    dots = "".join(f'<circle cx="{MARGIN + 4 + 18 * at}" cy="17" r="5.5" fill="{colour}"/>'
                   for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    words = escape("\n".join(map(said, lines)))
    body = "\n".join(line.body() for line in drawn)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="words">\n'
            f'<title id="words">{words}</title>\n<style>{STYLE % SIZE}{motion}\n</style>\n'
            f'<rect width="{width}" height="{height}" rx="9" fill="#12161e"/>\n'
            f'{dots}\n{body}\n</svg>\n')


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as recording:
        header, *events = (json.loads(line) for line in recording)
    with open(sys.argv[2], "w", encoding="utf-8") as picture:
        picture.write(draw(header, events))


if __name__ == "__main__":
    main()
