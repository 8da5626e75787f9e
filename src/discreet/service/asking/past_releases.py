"""Releases that were charged before, as a ledger remembers them."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...ledger import Event
from ...ledger.events import CHARGED
from ...privacy.guarantees import Guarantee, read_guarantee
from ...privacy.sensitivity import Unit, plain_unit, read_unit
from ...privacy.wording import in_brief
from ...selection.question_sentences import facts_of


@dataclass(frozen=True, slots=True)
class PastRelease:
    """A charged release. Repeating the same question under its request returns its answer at no cost.

    Attributes:
        dataset: the dataset with the charged budget.
        analyst: the analyst, if a share was also charged. None if the owner asked.
        request: the name of the request.
        query: the question in words.
        guarantee: the guarantee of the whole release.
        unit: the privacy unit, a column. None if every row is a record.
        at: the time of the charge, UTC. At a service, the start of its slot in the timetable.
        is_answered: whether its answer is stored. If not, repeating the request computes it at no cost.
        has_failed: whether it failed because of the data. Then the same request raises the same error.
    """

    dataset: str
    analyst: str | None
    request: str
    query: str
    guarantee: Guarantee
    unit: Unit | None
    at: str
    is_answered: bool
    has_failed: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the release in plain values, exact numbers as text, ready for JSON."""
        return {
            "dataset": self.dataset, "analyst": self.analyst, "request": self.request,
            "query": self.query, "asked": facts_of(self.query), "guarantee": self.guarantee.as_dict(),
            "privacy_unit": plain_unit(self.unit), "at": self.at, "is_answered": self.is_answered,
            "has_failed": self.has_failed,
        }  # fmt: skip

    def __str__(self) -> str:
        name = self.dataset if self.analyst is None else f"{self.dataset} / {self.analyst}"
        missing = ", failed" if self.has_failed else ", not answered yet"
        state = "" if self.is_answered else missing
        promise = in_brief(self.guarantee, self.unit)
        return f"{self.at[:19]} {name}: {self.query} [{promise}], request {self.request}{state}"


def past_releases(events: Iterable[Event], analyst: str | None) -> list[PastRelease]:
    """Return the releases that events record; to one analyst, or to all for None."""
    mine = [event for event in events if analyst in {None, event.analyst}]
    answers, failures = (
        {(event.analyst, event.request) for event in mine if event.kind in kinds}
        for kinds in (("answered", "released_outside"), ("failed",))
    )
    return [
        PastRelease(
            event.dataset,
            event.analyst,
            str(event.request),
            event.question,
            read_guarantee(event.body["guarantee"]),
            read_unit(event.body.get("privacy_unit")),
            event.at,
            (event.analyst, event.request) in answers,
            (event.analyst, event.request) in failures,
        )
        for event in mine
        if event.kind in CHARGED
    ]
