"""Commands that release an answer: their shared options, the ledger that is charged, and the output."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from ..datasets import Dataset
from ..errors import InvalidArgument
from ..releases import Release
from ..selection import bill_of
from ..tables.progress import waiting
from ..terms import spelled_out
from . import options
from .answers import say, show_release
from .described import Data, declared_ledger, described_data, parse_values

if TYPE_CHECKING:
    from ..ledger import Quote, Session

_OPTIONS: dict[str, tuple[object, object]] = {
    "epsilon": (options.Epsilon, None),
    "rho": (options.Rho, None),
    "scale": (options.Scale, None),
    "mechanism": (options.MechanismName, "exponential"),
    "noise": (options.NoiseName, None),
    "mechanism_option": (options.MechanismOptions, None),
    "neighbors": (options.NeighborsName, "add_remove"),
    "size": (options.Size, None),
    "privacy_unit": (options.PrivacyUnit, None),
    "max_contributions": (options.MaxContributions, None),
    "by": (options.ByColumn, None),
    "groups": (options.GroupNames, None),
    "max_groups": (options.MaxGroups, None),
    "ledger": (options.LedgerAt, None),
    "dataset": (options.DatasetName, None),
    "analyst": (options.AnalystName, None),
    "request": (options.RequestName, None),
    "dry_run": (options.DryRun, False),
    "report": (options.ReportAt, None),
    "as_json": (options.AsJson, False),
}

_RECORDS = ("privacy_unit", "max_contributions", "by", "groups", "max_groups")


def releasing(
    *without: str,
) -> Callable[[Callable[..., Release]], Callable[..., None]]:
    """Add the options of all releasing commands, except those named, to a command.

    Their values are passed to the command as `terms`.
    """

    def wrap(command: Callable[..., Release]) -> Callable[..., None]:
        shared = {name: option for name, option in _OPTIONS.items() if name not in without}
        defaults = {name: default for name, (_, default) in _OPTIONS.items()}

        def run(**given: Any) -> None:
            own = {name: value for name, value in given.items() if name not in shared}
            said = {**defaults, **{name: given[name] for name in shared}}
            own["data"] = data = described_data(given["data"])
            said["groups"] = _groups(data, said["by"], said["groups"])
            asked = _asked(given)

            def verb(**terms: object) -> Release:
                return command(**own, terms=terms)

            with waiting(f"reading {Path(given['data']).name}"):
                session = _session(said, data)
                answer = _or_how_to_ask_again(partial(_answer, verb, said, asked, session))
            answer()

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        # The option parser reads the signature: the command's own options, then the shared ones.
        run.__signature__ = spelled_out(command, shared)  # type: ignore[attr-defined]
        return run

    return wrap


def _or_how_to_ask_again(work: Callable[[], Callable[[], None]]) -> Callable[[], None]:
    """Return what the work returns; of an interrupt, say whether the answer is paid and how to ask again."""
    try:
        return work()
    except KeyboardInterrupt as stop:
        for note in getattr(stop, "__notes__", ()):
            say(note)
        raise


def _asked(given: dict[str, Any]) -> dict[str, object]:
    """Return what the question is about, for JSON."""
    return {
        "data": str(given["data"]),
        "column": given["column"],
        "dataset": given.get("dataset"),
        "analyst": given.get("analyst"),
        "request": given.get("request"),
    }


def _answer(
    verb: Callable[..., Release],
    said: dict[str, Any],
    asked: dict[str, object],
    session: "Session | None",
) -> Callable[[], None]:
    """Release an answer, or quote its cost; return a function that prints the result."""
    names = ("epsilon", "rho", "scale", "neighbors", "size", "request", *_RECORDS)
    given = {name: said[name] for name in names if said[name] is not None}
    chosen = said["mechanism"], said["noise"], said["mechanism_option"]
    terms = {**given, "mechanism": options.chosen_mechanism(*chosen)}
    if said["report"] is not None:
        _check_report(said)
    if session is not None:
        if said["dry_run"]:
            quote = session.quoted([bill_of(verb, **terms)])
            return partial(_show_quote, quote, as_json=said["as_json"])
        terms["ledger"] = session
    release = verb(**terms)

    def tell() -> None:
        show_release(release, asked, as_json=said["as_json"])
        if said["report"] is not None:
            _report(release, said)

    return tell


def _check_report(said: dict[str, Any]) -> None:
    """Refuse a report that could not be written, before anything is charged."""
    from ..reports import check_path  # most answers are released without one

    if said["dry_run"]:
        raise InvalidArgument("--report is of a release; leave it out of a --dry-run")
    check_path(said["report"])


def _report(release: Release, said: dict[str, Any]) -> None:
    """Write the report of a printed release."""
    from ..reports import report
    from .ledger import existing_ledger

    at = said["ledger"]
    ledger = None if at is None else existing_ledger(at)
    where = report(release, said["report"], ledger=ledger, dataset=said["dataset"])
    say(f"wrote {where}")


def _groups(data: Data, by: str | None, texts: list[str] | None) -> list[Any] | None:
    """Return the groups as values of their column; without a column the verb raises."""
    if texts is None or by is None:
        return texts
    return parse_values(data, by, options.split_candidates(texts, "--groups"))


def _session(said: dict[str, Any], data: Data) -> "Session | None":
    """Return the session to charge: that of the described dataset, or of --ledger; None without a ledger."""
    declared = data.account(said["analyst"]) if isinstance(data, Dataset) else None
    if declared is not None:
        if said["ledger"] is not None or said["dataset"] is not None:
            raise InvalidArgument(
                "the description of the data says which budget pays; leave out --ledger and --dataset"
            )
        session = cast("Session", declared)
        said |= {"ledger": declared_ledger(), "dataset": session.dataset}  # for a report
        return session
    if said["ledger"] is None:
        for name in ("dataset", "analyst", "request", "dry_run"):
            if said[name]:
                raise InvalidArgument(f"--{name.replace('_', '-')} goes with --ledger")
        return None
    if said["dataset"] is None:
        raise InvalidArgument("whose budget pays? give --dataset too")
    from .ledger import existing_ledger  # most answers are released without one

    return existing_ledger(said["ledger"]).session(said["dataset"], analyst=said["analyst"])


def _show_quote(quote: "Quote", *, as_json: bool) -> None:
    """Print the cost of an answer and the remaining budget."""
    typer.echo(json.dumps(quote.as_dict(), ensure_ascii=True) if as_json else str(quote))
