"""The information in which of an analyst's questions fail: a number of patterns, which no epsilon covers.

Proof: docs/explanation/threat_model.md, "Endings".
"""

from dataclasses import dataclass

from ..datasets.configuration import Configuration
from ..ledger import Budget
from ..ledger.failed_questions import Allowance
from ..messages import Message, plural
from .permissions import caller_rights, hold
from .rights import Rights


@dataclass(frozen=True, slots=True)
class Endings:
    """The failures that an analyst can see before a dataset is closed.

    Attributes:
        dataset: the name of the dataset.
        analyst: the analyst.
        questions: how many questions the share pays at most.
        failures: how many of them may fail.
        bits: the binary logarithm of the number of patterns, rounded up.
    """

    dataset: str
    analyst: str
    questions: int
    failures: int
    bits: int

    def __str__(self) -> str:
        return Message(
            "{analyst} about {dataset}: {questions} questions at most, and {failures}; which of them fail tells up "
            "to {bits} bits about the data, each time that it is opened",
            analyst=self.analyst, dataset=self.dataset, questions=f"{self.questions:,}",
            failures=plural("{count:,} failure", "{count:,} failures", self.failures), bits=f"{self.bits:,}",
        )  # fmt: skip


def endings_of(rights: Rights) -> list[Endings]:
    """Return the failures that an analyst can see, of the datasets with an open share."""
    shares = rights.datasets.charged(rights.analyst, rights.dataset_names)
    allowances = [
        (share, rights.datasets.allowance(name, share, rights.freedom.declared_least(share)))
        for name, share in shares.items()
    ]
    return [_endings(share, one) for share, one in allowances if one is not None]


def declared_endings(description: Configuration) -> list[Endings]:
    """Return the failures that every analyst of a description can see."""
    datasets = hold(description)
    analysts = [caller_rights(datasets, description, name) for name in description.analysts]
    return [one for rights in analysts for one in endings_of(rights)]


def _endings(share: Budget, allowance: Allowance) -> Endings:
    most, failures = allowance.questions(share), allowance.max_failures
    bits = pattern_bits(most, failures)
    return Endings(allowance.dataset, allowance.analyst, most, failures, bits)


def pattern_bits(questions: int, failures: int) -> int:
    """Return the binary logarithm, rounded up, of the number of patterns of at most so many failures in questions.

    The number is the sum of questions over i for i up to failures: exact, and so is the logarithm.
    """
    if failures >= questions:
        return questions
    patterns = term = 1
    for count in range(failures):
        term = term * (questions - count) // (count + 1)
        patterns += term
    return (patterns - 1).bit_length()
