"""Draw the picture of the README: 100 answers with Alice and 100 without her, of usual code and of this library.

`python docs/first_attack.py` writes assets/first_attack.svg, and the same for dark pages. The random bits are
the same every time, so the files change only if the answers do.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

import discreet
from discreet.mechanisms.testing import SeededBits

ANSWERS = 100
EPSILON = 0.5
ALICE = [-2980] + [-2981] * 99
"""The scores with Alice: all but the first are one lower than without her, so the sensitivity is 1."""
NOBODY = [-2980] * 100

INKS = {
    "first_attack.svg": {"ink": "#1f2328", "soft": "#59636e", "line": "#c9d1d9", "page": "#ffffff"},
    "first_attack_dark.svg": {
        "ink": "#f0f6fc",
        "soft": "#aab4be",
        "line": "#4a525b",
        "page": "#161a20",
    },
}
WIDTH, HEIGHT, LEFT, TOP, ACROSS, DOWN, APART = 480, 470, 12, 70, 216, 112, 24
SHOWN = 1.3
"""How much larger than its units it is shown where there is room: on a phone its letters are 12 pixels high."""

FRAME = '<rect x="{}" y="{}" width="{}" height="{}" rx="4" fill="none" stroke="{line}"/>'
TEXT = '<text x="{}" y="{}" font-size="{}" {}>{}</text>'


def usual(scores: Sequence[int]) -> list[int]:
    """Return 100 answers of the exponential mechanism as it is usually written."""
    weights = np.exp(EPSILON * np.array(scores) / 2)
    chance = np.random.RandomState(
        0
    )  # numpy keeps its stream as it is, unlike that of newer generators
    answers = chance.choice(len(scores), size=ANSWERS, p=weights / weights.sum())
    return [int(answer) for answer in answers]


def ours(scores: Sequence[int], seed: int) -> list[int]:
    """Return 100 answers of this library to the same question."""
    bits = SeededBits(seed)
    with patch.object(os, "urandom", lambda n: bits.words(-(-n // 8)).tobytes()[:n]):
        answers = discreet.select(scores, sensitivity=1, epsilon=EPSILON, size=ANSWERS)
    return [int(answer) for answer in answers.value]


def dots(answers: Sequence[int], x: int, y: int, ink: str) -> str:
    """Return the answers as dots: the candidate to the right, the first answer on top."""
    path = "".join(f"M{x + 9 + 2 * answer} {y + 6 + i}h0" for i, answer in enumerate(answers))
    return f'<path d="{path}" stroke="{ink}" stroke-width="3" stroke-linecap="round" fill="none"/>'


def picture(panels: Sequence[Sequence[Sequence[int]]], inks: dict[str, str]) -> str:
    """Return the picture: one column for each program, one row with Alice and one without her."""
    bold, soft = f'fill="{inks["ink"]}" font-weight="600"', f'fill="{inks["soft"]}"'
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{inks["page"]}"/>']
    heads = ("usual code (numpy)", "discreet.select")
    says = (("“always 1” says", "that Alice is there"), ("no answer tells", "much about her"))
    rows = ("Alice is in the data:", "Alice is not:")
    for column, (head, lines) in enumerate(zip(heads, says, strict=True)):
        x = LEFT + column * (ACROSS + APART)
        parts.append(TEXT.format(x, 28, 18, bold, head))
        for row, label in enumerate(rows):
            y = TOP + row * (DOWN + 36)
            parts.append(TEXT.format(x, y - 9, 16, soft, label))
            parts.append(FRAME.format(x, y, ACROSS, DOWN, **inks))
            parts.append(dots(panels[column][row], x, y, inks["ink"]))
        end = TOP + 2 * DOWN + 56
        parts.append(TEXT.format(x, end, 15, soft, "1"))
        parts.append(TEXT.format(x + ACROSS, end, 15, f'{soft} text-anchor="end"', "100"))
        middle = f'{soft} text-anchor="middle"'
        parts.append(TEXT.format(x + ACROSS // 2, end, 15, middle, "candidate"))
        for i, line in enumerate(lines):
            parts.append(TEXT.format(x, end + 30 + 21 * i, 17, bold, line))
    notes = (
        "Each dot is one answer, the first on top; 100 in each",
        "frame. ε = 0.5, 100 candidates.",
    )
    for i, note in enumerate(notes):
        parts.append(TEXT.format(LEFT, HEIGHT - 38 + 20 * i, 15, soft, note))
    family = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{SHOWN * WIDTH:g}" height="{SHOWN * HEIGHT:g}" role="img" font-family="{family}">'
    )
    title = (
        "<title>The usual code always answers 1 if Alice is in the data; discreet does not.</title>"
    )
    return "\n".join([opening, title, *parts, "</svg>", ""])


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    panels = [usual(ALICE), usual(NOBODY)], [ours(ALICE, 1), ours(NOBODY, 2)]
    return {name: picture(panels, inks) for name, inks in INKS.items()}


def main() -> None:
    """Write the pictures."""
    for name, text in pictures().items():
        (Path(__file__).parent / "assets" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
