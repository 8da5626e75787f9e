"""discreet select: one of the candidates, by scores that another program computed."""

import csv
import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from ..base.numbers import exact
from ..errors import InvalidArgument, InvalidScores, preview
from ..selection import select as verb
from ..selection.releases import Release
from ..selection.terms import Terms
from .audit_command import ChangeOption, MonotonicOption, SpreadOption
from .inputs import private_number, scores_text
from .options import GapOption, argument, option, split_candidates
from .releasing import releasing

MaskOption = Annotated[
    list[str] | None,
    option("A,B,C", "The allowed candidates. The default is all.", "--mask"),
]
WeightOption = Annotated[
    list[str] | None,
    option(
        "NAME=NUMBER",
        "A public weight of a candidate, which multiplies its probability. The default is 1. Repeatable.",
        "--base-measure",
    ),
]
LogWeightOption = Annotated[
    list[str] | None,
    option(
        "NAME=NUMBER",
        "Instead of --base-measure: the natural logarithm of a weight. The default is 0. Repeatable.",
        "--log-base-measure",
    ),
]
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
    mask: MaskOption = None,
    base_measure: WeightOption = None,
    log_base_measure: LogWeightOption = None,
) -> Release:
    """Release a candidate with a high score.

    The scores are your own, and private. Higher is better. The candidates are public. A first line
    candidate,score is skipped.

    Example: discreet select scores.csv --sensitivity 1 --epsilon 1
    """
    scores = read_scores(data)
    return verb.select(
        scores,
        sensitivity=sensitivity,
        spread=spread,
        monotonic=monotonic,
        gap=gap,
        mask=_read_mask(mask, scores),
        base_measure=_read_weights(base_measure, scores, "--base-measure", 1),
        log_base_measure=_read_weights(log_base_measure, scores, "--log-base-measure", 0),
        **terms,
    )


def _read_mask(texts: list[str] | None, candidates: Iterable[str]) -> dict[str, bool] | None:
    """Return for every candidate whether it may be answered, or None if all may be."""
    if texts is None:
        return None
    names = split_candidates(texts, "--mask")
    _check_names(names, candidates, "--mask")
    return {name: name in names for name in candidates}


def _read_weights(
    texts: list[str] | None, candidates: Iterable[str], option: str, otherwise: int
) -> dict[str, Fraction | float] | None:
    """Return the weights of all candidates, or their logarithms, or None if none are given."""
    if texts is None:
        return None
    pairs = [text.rpartition("=") for text in texts]
    names = [name for name, _, _ in pairs]
    if len({*names}) < len(names) or not all(equals for _, equals, _ in pairs):
        raise InvalidArgument(f"{option} takes NAME=NUMBER, once for a candidate")
    weights = {name: _read_weight(weight, option) for name, _, weight in pairs}
    _check_names(weights, candidates, option)
    return {name: weights.get(name, otherwise) for name in candidates}


def _read_weight(text: str, option: str) -> Fraction | float:
    """Return a weight, or its logarithm, which may be -inf."""
    return float(text) if text == "-inf" else exact(text, option)


def _check_names(names: Iterable[str], candidates: Iterable[str], option: str) -> None:
    """Raise if one of the names of an option is no candidate."""
    for name in names:
        if name not in candidates:
            raise InvalidArgument(f"{option}: {preview(name)} is none of the candidates")


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
