"""Disclosures to an analyst by times and failures, in bits that no epsilon covers.

For the proof, see docs/explanation/threat_model.md, "Endings" and "Time".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb, prod

from ...base.messages import Message, plural
from ...ledger import Budget
from ...ledger.delays import MOST_GIVEN_UP, Delay
from ...tables.datasets.configuration import Configuration
from ..asking.datasets import hold
from ..asking.rights import Rights, caller_rights
from .promises import AnswerTimes, answer_times

_DAYS = {"year": 366, "quarter": 92, "month": 31}
"""The most days of a period. A budget without one is counted for a year."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The failures and the times that an analyst can see of a dataset.

    Attributes:
        dataset: the name of the dataset.
        analyst: the analyst.
        questions: how many questions the share pays at most.
        failures: how many of them may fail before the dataset is closed.
        doublings: how often a delay can double between two resets.
        resets: how many resets there are in the life of the budget.
    """

    dataset: str
    analyst: str
    questions: int
    failures: int
    doublings: int = 0
    resets: int = 1

    @property
    def bits(self) -> int:
        """The most bits that failures disclose, at every opening of the dataset."""
        return pattern_bits(self.questions, self.failures)

    @property
    def bits_until_reset(self) -> int:
        """The most bits that doublings, and questions given up, disclose between two resets."""
        return _bits(_time_patterns(self.questions, self.doublings))

    @property
    def bits_of_life(self) -> int:
        """The same over the life of the budget: most where the questions are spread evenly."""
        each, more = divmod(self.questions, self.resets)
        counts = [each + 1] * more + [each] * (self.resets - more)
        return _bits(prod(_time_patterns(one, self.doublings) for one in counts))

    def bits_of(self, delay: Delay) -> int:
        """Return the bits that past doublings, and questions given up, can have disclosed."""
        happened = delay.factor.bit_length() - 1
        return happened_bits(self.questions, happened) + _bits(
            _choices(self.questions, delay.given_up)
        )

    def __str__(self) -> str:
        failures = Message(
            "{analyst} about {dataset}: {questions} questions at most, and {failures}. Which of "
            "them fail can reveal up to {bits} bits about the data, each time you open it again",
            analyst=self.analyst, dataset=self.dataset, questions=f"{self.questions:,}",
            failures=plural("{count:,} failure", "{count:,} failures", self.failures), bits=f"{self.bits:,}",
        )  # fmt: skip
        if not self.doublings:
            return failures
        return Message(
            "{failures}. Late answers can reveal up to {bits} bits until the next reset, and "
            "{more} in all",
            failures=failures, bits=f"{self.bits_until_reset:,}", more=f"{self.bits_of_life:,}",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LateAnswers:
    """A delay that has doubled, or questions that were given up. For the owner.

    Attributes:
        dataset: the dataset.
        analyst: the analyst. None for the owner.
        delay: the delay.
        answers_after: the seconds of `answers_after` under which it would not have doubled.
        bits: what these can have told. None if no share says how many questions there are.
    """

    dataset: str
    analyst: str | None
    delay: Delay
    answers_after: float
    bits: int | None

    def as_dict(self) -> dict[str, object]:
        """Return it in plain values."""
        return {
            "dataset": self.dataset, "analyst": self.analyst, "delay": self.delay.factor,
            "given_up": self.delay.given_up, "answers_after": self.answers_after, "bits": self.bits,
        }  # fmt: skip


def disclosures_of(
    rights: Rights, times: Mapping[str, AnswerTimes], periods: Mapping[str, str]
) -> list[Disclosure]:
    """Return the disclosures to an analyst, of the datasets with an open share.

    Args:
        rights: the rights of the analyst.
        times: the times of answers, by dataset.
        periods: the periods of budgets, by dataset.
    """
    rows = []
    for name, share in rights.charged().items():
        allowance = rights.datasets.allowance(name, share, rights.own.declared_least(share))
        if allowance is not None:
            resets = _DAYS.get(periods.get(name, ""), 366) if times[name].resets == "day" else 1
            questions = allowance.questions(share)
            limits = allowance.max_failures, times[name].doublings, resets
            rows.append(Disclosure(name, allowance.analyst, questions, *limits))
    return rows


def declared_disclosures(description: Configuration) -> list[Disclosure]:
    """Return the disclosures to all analysts of a description."""
    datasets, times = hold(description), answer_times(description)
    analysts = [
        caller_rights(datasets, description, "analyst", name) for name in description.analysts
    ]
    periods = periods_of(description)
    return [one for rights in analysts for one in disclosures_of(rights, times, periods)]


def periods_of(description: Configuration) -> dict[str, str]:
    """Return the periods of the budgets that have one."""
    return {
        name: str(terms["per"]) for name, terms in description.budgets.items() if "per" in terms
    }


def late_answers(
    shares: Iterable[tuple[str, Budget, Delay]],
    times: Mapping[str, AnswerTimes],
    disclosures: Iterable[Disclosure],
) -> list[LateAnswers]:
    """Return the delays that have doubled, and the analysts with questions given up.

    Args:
        shares: names of datasets, with their budgets and shares, and the delays of these.
        times: the times of answers, by dataset.
        disclosures: those to analysts.
    """
    known = {(one.dataset, one.analyst): one for one in disclosures}
    rows = []
    for name, budget, delay in shares:
        if (delay.factor, delay.given_up) != (1, 0):
            sees = known.get((name, budget.analyst or ""))
            bits = None if sees is None else sees.bits_of(delay)
            seconds = float(times[name].longer(delay.factor))
            rows.append(LateAnswers(name, budget.analyst, delay, seconds, bits))
    return rows


def pattern_bits(questions: int, failures: int) -> int:
    """Return the binary logarithm, rounded up, of the number of patterns of at most so many failures in questions.

    The number is the sum of questions over i for i up to failures: exact, and so is the logarithm.
    """
    return _bits(_choices(questions, failures))


def happened_bits(questions: int, doublings: int) -> int:
    """Return the most bits that a run with so many doublings discloses, for any number of them, rounded up.

    1 + f bits are the price of not fixing f beforehand: patterns of f doublings are weighed by 2^-(f + 1).
    """
    return 1 + doublings + _bits(comb(questions + doublings - 1, doublings) if doublings else 1)


def _time_patterns(questions: int, doublings: int) -> int:
    """Return the number of patterns of the delays between two resets, and of the questions given up."""
    delays = comb(questions + doublings, doublings)
    return delays * _choices(questions, MOST_GIVEN_UP)


def _choices(questions: int, most: int) -> int:
    """Return in how many ways at most so many of some questions can be chosen."""
    patterns = term = 1
    for count in range(min(most, questions)):
        term = term * (questions - count) // (count + 1)
        patterns += term
    return patterns


def _bits(patterns: int) -> int:
    """Return the binary logarithm of a number, rounded up."""
    return (patterns - 1).bit_length()
