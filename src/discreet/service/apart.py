"""Questions that are answered in another process, which reads the data: see `processes`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from ..errors import DiscreetError, Unanswerable
from ..node.isolation import Failure, error_for_analyst
from ..releases import Release
from . import wire
from .processes import EndedError, Processes
from .rights import Paying
from .tokens import Token

Asking = Callable[..., Release | Failure]


@dataclass(frozen=True, slots=True)
class Apart:
    """What asks for one caller in another process.

    Attributes:
        processes: those that read data.
        token: the caller.
        charge: operations by name that charge, read no data, and return what was answered before.
    """

    processes: Processes
    token: Token
    charge: Mapping[str, Asking]

    def ask(
        self, question: str, dataset: str | None, size: int | None, paying: Paying
    ) -> Release | Failure:
        """Answer a named question."""
        return self._asked("ask", [question, dataset, size], {}, paying)

    def ask_free(  # noqa: PLR0913  # a question, and what is paid for it
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object],
        paying: Paying,
    ) -> Release | Failure:  # fmt: skip
        """Answer a free question."""
        return self._asked("ask_free", [verb, dataset, column, size], terms, paying)

    def _asked(
        self, name: str, arguments: list[Any], terms: Mapping[str, object], paying: Paying
    ) -> Release | Failure:
        """Ask; if the process ends before it answers, its end may depend on the data, so it is charged too."""
        named = replace(paying, request=paying.request or str(uuid4()))
        try:
            written = {key: wire.write_value(value) for key, value in terms.items()}
            asked = {
                "name": name, "arguments": arguments, "terms": written, "role": self.token.role,
                "analyst": self.token.analyst, "request": named.request,
                "max_cost": None if named.max_cost is None else str(named.max_cost),
            }  # fmt: skip
            return read_answer(self.processes.ask(asked))
        except EndedError:
            pass
        except DiscreetError as error:
            return Failure(error)
        except Exception:
            return Failure(Unanswerable(str(error_for_analyst(Exception()))))
        free = [terms] if name == "ask_free" else []
        return self.charge[name](*arguments, *free, named)


def write_answer(answer: Release | Failure) -> dict[str, Any]:
    """Return an answer or a failure for `read_answer`."""
    if isinstance(answer, Failure):
        error = answer.error
        known = error if isinstance(error, DiscreetError) else error_for_analyst(error)
        return {"failure": wire.write_error(known)}  # type: ignore[arg-type]
    return {"release": wire.write_release(answer)}


def read_answer(plain: Mapping[str, Any]) -> Release | Failure:
    """Return the answer or the failure that `write_answer` wrote."""
    if "failure" in plain:
        return Failure(wire.read_error(plain["failure"]))
    return wire.read_release(plain["release"])
