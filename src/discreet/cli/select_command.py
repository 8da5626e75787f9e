"""discreet select: one of the candidates, by scores that another program computed."""

import csv
import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from ..errors import InvalidScores
from ..selection import select as verb
from ..selection.releases import Release
from ..selection.terms import Terms
from .audit_command import ChangeOption, MonotonicOption, SpreadOption
from .inputs import private_number, scores_text
from .options import GapOption, argument
from .releasing import releasing

_HEADER = ["candidate", "score"]
ScoredCandidate = tuple[object, object]


@releasing(verb.select, open_input=scores_text)
def select_command(
    data: Annotated[
        str,
        argument(
            "FILE",
            "The scores: lines of candidate,score, or a JSON object. Use - for standard input.",
        ),
    ],
    terms: Terms,
    sensitivity: ChangeOption = None,
    spread: SpreadOption = None,
    monotonic: MonotonicOption = False,
    gap: GapOption = False,
) -> Release:
    """Release a candidate with a high score.

    The scores are your own, and private. Higher is better. The candidates are public. A first line
    candidate,score is skipped.

    Example: discreet select scores.csv --sensitivity 1 --epsilon 1
    """
    return verb.select(
        read_scores(data),
        sensitivity=sensitivity,
        spread=spread,
        monotonic=monotonic,
        gap=gap,
        **terms,
    )


def read_scores(text: str) -> dict[str, Fraction]:
    """Return the exact scores by candidate.

    Raises:
        InvalidScores: if a line has no score, or a candidate is there twice. No score is shown.
    """
    pairs = _of_json(text) if text.lstrip().startswith("{") else _of_lines(text)
    scores: dict[str, Fraction] = {}
    for number, (candidate, score) in enumerate(pairs, 1):
        if not isinstance(candidate, str) or not candidate or candidate in scores:
            raise InvalidScores(f"candidate {number} has no name, or that of one before it")
        scores[candidate] = private_number(score, f"the score of candidate {number}")
    return scores


def _of_lines(text: str) -> Iterable[ScoredCandidate]:
    """Return the candidates and scores of lines."""
    try:
        rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if row]
    except csv.Error:
        rows = [[]]
    if any(len(row) != 2 for row in rows):
        raise InvalidScores("scores are given as lines of candidate,score, or as a JSON object")
    names = [(name.strip(), score) for name, score in rows]
    return names[1:] if rows and [part.strip() for part in rows[0]] == _HEADER else names


def _of_json(text: str) -> Iterable[ScoredCandidate]:
    """Return the candidates and scores of a JSON object, its numbers as they are written."""
    try:
        pairs = json.loads(text, parse_float=str, parse_constant=str, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        pairs = None
    if not isinstance(pairs, tuple):
        raise InvalidScores("the scores are not a JSON object from candidates to numbers")
    return pairs
