"""Questions that are answered in another process, which reads the data: see `processes`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ..errors import DiscreetError, LedgerBusy, LedgerError, RequestConflict, Unanswerable
from ..node.isolation import Failure, error_for_analyst
from ..releases import Release
from . import wire
from .operations import Operation
from .processes import Processes, UnreadyError
from .tokens import Token

Answer = Callable[..., Release | Failure]


@dataclass(frozen=True, slots=True)
class ReaderClient:
    """The client of one caller, which asks in another process.

    Attributes:
        processes: those that read data.
        token: the caller.
        beginning: the time at which the slot of the request began.
        charge: operations by name that charge, read no data, and return earlier answers.
        replays: operations by name that return earlier answers, and charge nothing.
    """

    processes: Processes
    token: Token
    beginning: str | None
    charge: Mapping[str, Answer]
    replays: Mapping[str, Answer]

    def call(self, operation: Operation[Any], **arguments: Any) -> Release | Failure:
        """Answer; if no process can answer now, an answer or a failure of before is given all the same."""
        with_request = {**arguments, "request": arguments["request"] or str(uuid4())}
        try:
            plain = operation.write(with_request)
        except DiscreetError as error:
            return Failure(error)
        question = {
            "operation": operation.name, "arguments": plain, "role": self.token.role,
            "analyst": self.token.analyst, "beginning": self.beginning, "token": self.token.id,
        }  # fmt: skip
        answer = self._answer(question, with_request)
        if not _is_down(answer):
            return answer
        earlier = self.replays[operation.name](**with_request)
        is_new = isinstance(earlier, Failure) and getattr(earlier.error, "charged", False) is False
        return answer if is_new else earlier

    def _answer(self, question: dict[str, Any], with_request: dict[str, Any]) -> Release | Failure:
        """Return the answer of a process; if it ends before, its end may depend on the data, so it is charged."""
        try:
            return read_answer(self.processes.ask(question))
        except UnreadyError:
            return Failure(Unanswerable("no data can be read now; ask again, or tell their owner"))
        except LedgerBusy as error:
            return Failure(error)
        except Exception:  # it ended, or said what cannot be read: it may have charged
            charged = self.charge[question["operation"]](**with_request)
        return _in_doubt(charged, with_request["request"])


def _is_down(answer: Release | Failure) -> bool:
    """Return whether a question failed for want of something that a stored answer may not need."""
    if not isinstance(answer, Failure) or isinstance(answer.error, RequestConflict):
        return False
    error = answer.error
    return isinstance(error, LedgerError | Unanswerable) and error.charged is False


def _in_doubt(answer: Release | Failure, request: str) -> Release | Failure:
    """Return the answer of a charge; if it could not charge, the process that ended may have charged before."""
    error = answer.error if isinstance(answer, Failure) else None
    if (
        isinstance(error, LedgerError)
        and not isinstance(error, RequestConflict)
        and not error.charged
    ):
        error.charged = None
        error.add_note(f"if this was paid: request={request!r} asks again at no cost")
    return answer


def write_answer(answer: Release | Failure) -> dict[str, Any]:
    """Return an answer or a failure for `read_answer`."""
    if isinstance(answer, Failure):
        error = answer.error
        public = error if isinstance(error, DiscreetError) else error_for_analyst(error)
        return {"failure": wire.write_error(public)}
    return {"release": wire.write_release(answer)}


def read_answer(plain: Mapping[str, Any]) -> Release | Failure:
    """Return the answer or the failure that `write_answer` wrote."""
    if "failure" in plain:
        return Failure(wire.read_error(plain["failure"]))
    return wire.read_release(plain["release"])
