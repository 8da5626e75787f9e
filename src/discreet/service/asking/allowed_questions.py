"""The questions that an owner allows, with their prices and limits."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from uuid import uuid4

from ...base.error_boundary import public_errors
from ...base.messages import AND, join
from ...base.text_tables import fact_table
from ...errors import Exhausted
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Unit
from ...privacy.wording import by_mechanism, in_brief
from ...selection.payment import Bill
from ...selection.verb_calls import Call
from ...tables.datasets import Dataset


@dataclass(frozen=True, slots=True, repr=False)
class AllowedQuestion:
    """A question that an analyst may ask. Public.

    Attributes:
        name: the name of the data.
        access: the name of the question.
        query: the question in words.
        guarantee: the guarantee of one answer.
        mechanism: the name of the mechanism.
        candidates: the number of candidates, if it is known and finite.
        unit: the column that identifies the privacy unit, or a tuple of several. Rows with equal values there are
            one record. None if every row is a record.
        requests: the number of requests that this analyst has left. None if only the budget limits them.
    """

    name: str
    access: str
    query: str
    guarantee: Guarantee
    mechanism: str
    candidates: int | None
    unit: Unit | None
    requests: int | None

    def cells(self) -> dict[str, str]:
        """Return the question as the row of a table."""
        return {
            "data": self.name, "question": self.access, "in words": self.query,
            "guarantee": in_brief(self.guarantee, self.unit), "mechanism": self.mechanism,
            "requests left": "as the budget lasts" if self.requests is None else f"{self.requests:,}",
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return fact_table("Allowed question", self.cells()).html()

    def __repr__(self) -> str:
        return f"AllowedQuestion({self})"

    def __str__(self) -> str:
        promise = join(AND, (in_brief(self.guarantee, self.unit), by_mechanism(self.mechanism)))
        return f"{self.name}, {self.access}: {self.query} [{promise}]"


@dataclass(slots=True, repr=False)
class Permission:
    """A question without its data, and the requests that analysts have made.

    Attributes:
        question: the question.
        bill: its bill.
        most_requests: the most requests of one analyst, in addition to the budgets; None: no limit.
        kept_bill: its bill as the verb has settled it for a request, for the next one.
    """

    question: Call
    bill: Bill
    most_requests: int | None = None
    kept_bill: Bill | None = None
    _requests: defaultdict[str, set[str]] = field(default_factory=partial(defaultdict, set))
    _lock: Lock = field(default_factory=Lock)

    def allowed_question(self, name: str, access: str, analyst: str) -> AllowedQuestion:
        """Return the question as one analyst may see it."""
        bill, remaining = self.bill, self.most_requests
        if remaining is not None:
            remaining = max(0, remaining - len(self._requests.get(analyst, ())))
        return AllowedQuestion(
            name, access, bill.query, bill.guarantee, bill.mechanism, bill.candidates, bill.unit,
            remaining,
        )  # fmt: skip

    def known_bill(self, dataset: object) -> Bill | None:
        """Return the bill as it was settled before, if it is the same for all callers.

        None if the data are elsewhere by now, or requests are counted here.
        """
        bill = self.kept_bill if self.most_requests is None else None
        if bill is None or bill.about is None or not isinstance(dataset, Dataset):
            return None
        return bill if dataset.whereabouts.source == bill.about.source else None

    @public_errors()
    def admit(self, analyst: str, request: str | None) -> None:
        """Count a request of an analyst if requests are limited, and raise if there are too many.

        Failed requests count too, as a failure may depend on the data. A repeated request counts once.
        """
        most = self.most_requests
        if most is None:
            return
        name = str(uuid4()) if request is None else request
        with self._lock:
            requests = self._requests[analyst]
            if name not in requests and len(requests) >= most:
                raise Exhausted(
                    f"this question may be asked {most:,} times, and was. Its owner can allow more"
                )
            requests.add(name)
