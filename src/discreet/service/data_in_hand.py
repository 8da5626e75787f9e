"""Data in hand: datasets given in Python, and the operations of their owner besides asking."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..arguments import mapping, refuse_one_shot
from ..batches import Call
from ..datasets import Dataset
from ..datasets.dataset import with_name
from ..errors import InvalidArgument, preview
from ..ledger import Ledger
from ..node.datasets import Datasets
from ..node.isolation import call_isolated, error_for_owner, isolated, unwrap
from ..numbers import count
from ..releases import Release
from ..simulations import Simulation

_MOST = 10**9


class DataInHand:
    """The operations of the owner of data given in Python, isolated from the data: see `node.isolation`.

    Args:
        datasets: the data.
        connect_analyst: returns the connection of an analyst.
    """

    __slots__ = ("_allow", "_allow_simulation", "_connect_analyst", "_limit", "_simulate")

    def __init__(self, datasets: Datasets, connect_analyst: Callable[[str], Any]) -> None:
        self._allow = isolated(datasets.allow, error_for_owner)
        self._limit = isolated(datasets.limit, error_for_owner)
        self._allow_simulation = isolated(datasets.allow_simulation, error_for_owner)
        self._simulate = isolated(datasets.simulate, error_for_owner)
        self._connect_analyst = isolated(connect_analyst, error_for_owner)

    def allow(
        self,
        dataset: str,
        question: str,
        verb: Callable[..., Release],
        arguments: tuple[Any, ...],
        terms: Mapping[str, Any],
    ) -> None:
        """Allow a named question, as a verb and its arguments after the data."""
        for name in ("ledger", "request"):
            if terms.get(name) is not None:
                raise InvalidArgument("leave out {name}: it goes with ask", name=name)
        call = Call(verb, arguments, dict(terms))
        unwrap(call_isolated(self._allow, dataset, question, call))

    def limit(self, question: str, dataset: str | None, requests: int) -> None:
        """Limit the requests for a named question."""
        most = count(requests, "requests", most=_MOST)
        unwrap(call_isolated(self._limit, question, dataset, most))

    def for_analyst(self, analyst: str) -> Any:
        """Return the connection of an analyst."""
        return unwrap(call_isolated(self._connect_analyst, analyst))

    def allow_simulation(self, dataset: str) -> None:
        """Allow simulation of a dataset."""
        unwrap(call_isolated(self._allow_simulation, dataset))

    def simulate(self, question: str, dataset: str | None, size: int) -> Simulation:
        """Return draws that are not charged."""
        return unwrap(call_isolated(self._simulate, question, dataset, size))


def hold_in_hand(datasets: Mapping[str, object] | Iterable[Dataset], ledger: object) -> Datasets:
    """Return data that are given in Python, with the ledger that is charged.

    Args:
        datasets: data by name; or described datasets that have names.
        ledger: a `Ledger`, or the file or the URL of one; None for one in memory.

    Raises:
        InvalidArgument: if they are neither, a name is none, or data can be read only once.
    """
    where: Any = ledger
    holder = Datasets(ledger if isinstance(ledger, Ledger) else Ledger(where))
    for name, data in _by_name(datasets).items():
        refuse_one_shot(data, f"the data of {name}")
        holder.hold(name, with_name(data, name) if isinstance(data, Dataset) else data)
    return holder


def _by_name(datasets: Any) -> Mapping[str, Any]:
    """Return data by name."""
    if isinstance(datasets, Mapping | list | tuple) and not datasets:
        raise InvalidArgument(
            'datasets is empty: give data by name, such as {"bids": [1, 3]}, or leave datasets out to connect to '
            "those of a discreet.toml"
        )
    if isinstance(datasets, Mapping):
        return mapping(datasets, "datasets")
    if not isinstance(datasets, list | tuple) or not all(
        isinstance(one, Dataset) and one.name is not None for one in datasets
    ):
        raise InvalidArgument(
            "datasets must be a dict of data by name, or a list of discreet.Dataset with names"
        )
    names = [one.name for one in datasets]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(
                "two datasets are named {name}; give each another name", name=preview(name)
            )
    return dict(zip(names, datasets, strict=True))
