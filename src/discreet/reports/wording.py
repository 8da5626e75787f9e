"""What a report says, as one table of sentences per language."""

import re
from dataclasses import dataclass

Rewording = tuple[tuple[str, str], ...]
"""Pairs of a regular expression and what takes its place, in order."""


@dataclass(frozen=True, slots=True)
class Wording:
    """All sentences of reports in one language.

    Attributes with braces are templates of `str.format`. A question is shown as it was recorded: it is made of
    names and numbers.

    Attributes:
        lang: the language tag of the page.
        notations: how guarantees, amounts, mechanisms and results of audits, which speak for themselves in English,
            are written in this language.
        labels: the same of the texts in pictures; each expression matches a whole text.
        private_labels: the same of the picture of a distribution, which holds candidates too.
        audits: what the result of an audit means, by its type.
    """

    lang: str
    # of every page
    private: str
    made: str
    no_picture: str
    # the promise
    think: dict[str, str]
    whether: dict[str, str]
    nothing: str
    failing: str
    chance: str
    belief: str
    no_protection: str
    relation: dict[str, str]
    one_row: str
    one_unit: str
    exactness_title: str
    exactness: tuple[str, str]
    # a release
    release_title: str
    asked_title: str
    question: str
    not_recorded: str
    answer: str
    more_answers: str
    mechanism: str
    promised_title: str
    exactly: str
    neighbours: str
    cost_title: str
    pure: str
    concentrated: str
    privacy: str
    error_title: str
    error: str
    error_picture: str
    distribution_title: str
    distribution_picture: str
    # a budget
    budget_title: str
    budget: str
    granted: str
    spent_title: str
    remaining_title: str
    promised_together: str
    all_answers: str
    so_far: str
    none: str
    sums: tuple[str, str, str, str]
    history: tuple[str, str, str, str, str]
    elsewhere: str
    last_rows: str
    budget_picture: str
    chain_title: str
    chain: str
    events: str
    head: str
    # an audit
    audit_title: str
    holds: str
    false: str
    bounded_range: str
    found_title: str
    claimed: str
    true: str
    at_output: str
    range: str
    delta: str
    slack: str
    losses_picture: str
    meaning_title: str
    meaning: tuple[str, str, str]
    audits: dict[str, str]
    proof: str
    made_up: str
    # texts that are made elsewhere
    notations: Rewording
    labels: Rewording
    private_labels: Rewording

    def said(self, made: object) -> str:
        """Return what a guarantee, an amount, a mechanism or an audit says of itself, in this language."""
        text = str(made)
        for expression, here in self.notations:
            text = re.sub(expression, here, text)
        return text


def reworded(text: str, rewording: Rewording) -> str:
    """Return the text in another wording if an expression matches all of it."""
    for expression, here in rewording:
        if match := re.fullmatch(expression, text):
            return match.expand(here)
    return text
