"""discreet ledger: privacy budgets that outlive the process."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.messages import Message, gettext, translate
from ..errors import InvalidArgument, UnknownBudget, preview
from .accounts import (
    DatasetOption,
    DescribedDataset,
    LedgerArgument,
    OneDataset,
    account,
    description_for,
    open_ledger,
)
from .answer_output import check_report, say, write_report
from .budget_tables import note_closed_shares, show_budgets
from .completion import analyst_names, data_names
from .history_command import history_command, verify_command
from .json_output import print_either, print_json
from .options import (
    AsJson,
    NeighborsName,
    PrivacyUnit,
    ReportAt,
    ReportLanguage,
    argument,
    option,
    switch,
)

if TYPE_CHECKING:
    from ..ledger import Budget, Charge
    from ..privacy.contract import Guarantee
    from ..tables.datasets import Dataset

ledger_app = typer.Typer(
    name="ledger",
    help="Manage privacy budgets and see what was charged.",
    no_args_is_help=True,
)

AnalystOption = Annotated[
    str | None,
    option("NAME", "The analyst who holds a share of the budget.", completes=analyst_names),
]
TotalEpsilon = Annotated[
    str | None, option("NUMBER", "The most that all answers may cost together.", "--epsilon", "-e")
]
PromisedEpsilon = Annotated[
    str | None, option("NUMBER", "The guarantee of the release: epsilon-DP.", "--epsilon", "-e")
]
TotalRho = Annotated[str | None, option("NUMBER", "Instead: rho of zero-concentrated DP.")]
Separate = Annotated[
    bool,
    switch(
        "--separate",
        "Declare that the dataset holds the data of other people, though it shares a "
        "database or files with other budgets.",
    ),
]
TotalDelta = Annotated[str | None, option("NUMBER", "With --epsilon: (epsilon, delta)-DP.")]

DeltaUse = Annotated[
    str | None,
    option(
        "questions|composition",
        "With --delta: for questions that have one each, or for composition.",
    ),
]
Oversubscribed = Annotated[
    bool | None,
    switch(
        "--oversubscribed/--no-oversubscribed",
        "Allow shares that add up to more than the budget. Rejections then reveal to "
        "analysts what others spend.",
    ),
]


@ledger_app.command("open")
def open_command(  # `open` is Python's
    where: Annotated[
        str,
        argument(
            "LEDGER",
            "A file, the URL of a PostgreSQL database, or a dataset of discreet.toml.",
            completes=data_names,
            envvar="DISCREET_LEDGER",
        ),
    ],
    dataset: Annotated[
        str | None, option("NAME", "The dataset. Optional for one of discreet.toml.")
    ] = None,
    analyst: AnalystOption = None,
    epsilon: TotalEpsilon = None,
    rho: TotalRho = None,
    delta: TotalDelta = None,
    neighbors: NeighborsName = "add_remove",
    privacy_unit: PrivacyUnit = None,
    separate: Separate = False,
    delta_for: DeltaUse = None,
    oversubscribed: Oversubscribed = None,
    as_json: AsJson = False,
) -> None:
    """Open a budget for a dataset, or an analyst's share of it. Create the ledger if it does not exist.

    If discreet.toml describes the dataset, its ledger, budget and privacy unit are those declared there.

    Example: discreet ledger open budget.db --dataset adult --epsilon 1
    """
    terms: Any = {
        "epsilon": epsilon, "rho": rho, "delta": delta,
        "separate": separate, "delta_for": delta_for, "oversubscribed": oversubscribed,
    }  # fmt: skip
    if dataset is None:
        is_plain = not privacy_unit and neighbors == "add_remove"
        budget = _open_described(where, analyst, terms, is_plain=is_plain)
    else:
        terms |= {"neighbors": neighbors, "privacy_unit": privacy_unit or None}
        budget = open_ledger(where).open(dataset, analyst=analyst, **terms)
    show_budgets([budget], as_json=as_json)


def _open_described(
    name: str, analyst: str | None, terms: Mapping[str, Any], *, is_plain: bool
) -> "Budget":
    """Open the budget of a dataset of discreet.toml, which declares its relation and unit.

    Raises:
        InvalidArgument: if the name is a ledger, or relation or unit are given here too.
    """
    from ..ledger.toml_budgets import configuration, open_described

    description = description_for(name)
    if description is None and ("://" in name or Path(name).suffix):
        raise InvalidArgument(f"which budget is it? give --dataset too: {name} is a ledger")
    of = description or configuration()
    if not is_plain:
        raise InvalidArgument(
            f"{of.path} declares the privacy unit and the neighbors of {name}. Leave them out here"
        )
    return open_described(of, name, analyst, **terms)


@ledger_app.command("extend")
def extend_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    epsilon: TotalEpsilon = None,
    rho: TotalRho = None,
    delta: TotalDelta = None,
    delta_for: DeltaUse = None,
    as_json: AsJson = False,
) -> None:
    """Give a budget a larger total.

    From then on only the larger total is promised. The history shows it. Give the numbers that the budget was
    opened with: epsilon, or rho, or epsilon and delta. Those you leave out stay. A budget in epsilon can get a
    delta for questions that have an epsilon and a delta each, such as keys: --delta 1e-6 --delta-for questions.

    Example: discreet ledger extend budget.db --dataset adult --epsilon 2
    """
    amounts: Any = {"epsilon": epsilon, "rho": rho, "delta": delta, "delta_for": delta_for}
    of = account(where, dataset)
    show_budgets([of.ledger.extend(of.one, analyst=analyst, **amounts)], as_json=as_json)


@ledger_app.command("shrink")
def shrink_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    *,
    analyst: Annotated[
        str, option("NAME", "The analyst who holds the share.", completes=analyst_names)
    ],
    epsilon: TotalEpsilon = None,
    rho: TotalRho = None,
    delta: TotalDelta = None,
    as_json: AsJson = False,
) -> None:
    """Make an analyst's share smaller, or close it.

    Without a total the share is closed. What is left returns to the budget of the dataset. The history shows it.

    Example: discreet ledger shrink budget.db --dataset adult --analyst team-a --epsilon 1/2
    """
    amounts: Any = {"epsilon": epsilon, "rho": rho, "delta": delta}
    of = account(where, dataset)
    show_budgets([of.ledger.shrink(of.one, analyst=analyst, **amounts)], as_json=as_json)


@ledger_app.command("reopen")
def reopen_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    as_json: AsJson = False,
) -> None:
    """Reopen a dataset that failures have closed.

    If a question fails because of the data, the failure reveals something that no epsilon covers. So a dataset is
    closed for an analyst after max_failures failures, until you reopen it. The history shows both.

    Example: discreet ledger reopen people
    """
    of = account(where, dataset)
    shares = of.ledger.reopen(of.one, analyst=analyst)
    if not shares:
        say(Message("no question has failed since it was last opened: nothing was closed"))
    show_budgets(shares, as_json=as_json)


@ledger_app.command("reset-delays")
def reset_delays_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    as_json: AsJson = False,
) -> None:
    """Reset the delays of a service's answers to the usual time.

    A delay doubles when an answer needs longer, and stays until the next public reset, each day. Questions that
    wait because five were given up are read again too. Afterwards, times may reveal as much again.

    Example: discreet ledger reset-delays people --analyst team-a
    """
    of = account(where, dataset)
    shares = of.ledger.reset_delays(of.one, analyst=analyst)
    if not shares:
        say(Message("no answer was late since the last reset: nothing was changed"))
    show_budgets(shares, as_json=as_json)


@ledger_app.command("describe")
def describe_budget_command(
    dataset: DescribedDataset,
    separate: Separate = False,
) -> None:
    """Accept a changed description of a dataset.

    Changed columns are recorded automatically with the next release. Use this command if the source or the
    contribution bound has changed, or if a table was replaced in its database. Until then, releases are rejected.
    The spending stays the same.

    Example: discreet ledger describe people
    """
    from ..ledger.toml_budgets import configuration, described_ledger

    description = configuration()
    described_ledger(description, dataset).describe(description.dataset(dataset), separate=separate)
    digest = description.dataset(dataset).digest
    typer.echo(
        gettext(
            "the description of {dataset} is on record: {digest}", dataset=dataset, digest=digest
        )
    )


@ledger_app.command("merge")
def merge_command(
    dataset: DescribedDataset,
    into: Annotated[
        str,
        option(
            "NAME",
            "The dataset that keeps its budget. What the other has spent is charged to it.",
            completes=data_names,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Merge two budgets about the same tables.

    From then on releases about both datasets are charged to the budget that stays. Shares of the other are closed.

    Example: discreet ledger merge visits --into people
    """
    from ..ledger.toml_budgets import configuration, described_ledger

    description = configuration()
    ledger = described_ledger(description, dataset)
    budget = ledger.merge(description.dataset(dataset), into=description.dataset(into))
    show_budgets([budget], as_json=as_json)


@ledger_app.command("renew")
def renew_command(
    name: DescribedDataset,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", hidden=True)] = None,
    period: Annotated[
        str | None,
        option(
            "NAME",
            "The purpose of the new budget. Optional if the budget is declared per year, quarter "
            "or month.",
        ),
    ] = None,
    epsilon: TotalEpsilon = None,
    rho: TotalRho = None,
    delta: TotalDelta = None,
    as_json: AsJson = False,
) -> None:
    """Open a new budget for a dataset, to be charged from now on. Promises to its people add up.

    A budget that is declared per year, quarter or month is renewed only after that period has ended.

    Example: discreet ledger renew people
    """
    from ..ledger.toml_budgets import configuration, described_ledger, renew_described

    if dataset is not None or "://" in name or Path(name).is_file():
        raise _not_described(name, dataset or "NAME")
    amounts: Any = {"epsilon": epsilon, "rho": rho, "delta": delta}
    description = configuration()
    budget = renew_described(description, name, period, **amounts)
    show_budgets([budget], as_json=as_json)
    note_closed_shares(described_ledger(description, name), description.dataset(name))


def _not_described(ledger: str, dataset: str) -> InvalidArgument:
    """Return the error for a budget that cannot be renewed, with the command that grants more."""
    return InvalidArgument(
        "only the budget of a dataset that discreet.toml describes is renewed: of another one "
        "nothing shows that the next is about the same people. Grant more instead, which the "
        f"history shows: discreet ledger extend {ledger} --dataset {dataset} --epsilon NEW_TOTAL"
    )


@ledger_app.command("show")
def show_command(
    where: LedgerArgument = None,
    dataset: OneDataset = None,
    report: ReportAt = None,
    lang: ReportLanguage = None,
    as_json: AsJson = False,
) -> None:
    """Show budgets: total, spent and remaining.

    With --report also write a page, with the questions of one dataset.

    Example: discreet ledger show budget.db
    """
    check_report(report, lang)
    of = account(where, dataset)
    if report is not None:
        name = of.one if isinstance(of.one, str) else of.budgets[-1]
        write_report(of.ledger, report, lang, dataset=name)
    budgets = of.ledger.budgets()
    names = {budget.dataset for budget in budgets} if of.whose is None else set(of.budgets)
    if of.whose is not None and not names:
        dataset_names = sorted({budget.dataset for budget in budgets})
        raise UnknownBudget(
            f"no budget was opened for the dataset {_quote_name(of.whose)}. There are "
            f"{', '.join(dataset_names) or 'none'}"
        )
    show_budgets([budget for budget in budgets if budget.dataset in names], as_json=as_json)


@ledger_app.command("charge")
def charge_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    *,
    description: Annotated[str, option("TEXT", "A description of the release.")],
    request: Annotated[
        str,
        option(
            "NAME", "The name of the release. It is charged once, to the dataset and the analyst."
        ),
    ],
    analyst: AnalystOption = None,
    epsilon: PromisedEpsilon = None,
    rho: TotalRho = None,
    delta: TotalDelta = None,
    mu: Annotated[str | None, option("NUMBER", "Instead: mu of Gaussian noise.")] = None,
    neighbors: NeighborsName = "add_remove",
    privacy_unit: PrivacyUnit = None,
    as_json: AsJson = False,
) -> None:
    """Charge for a release of another program.

    Charge before you make the release. Exit with 1 if it was charged already.

    Example: discreet ledger charge budget.db --dataset adult --epsilon 1/2 --description "mean age" --request m1
    """
    guarantee = _read_guarantee({"epsilon": epsilon, "rho": rho, "mu": mu}, delta, neighbors)
    of = account(where, dataset)
    session, whose = of.ledger.session(of.one, analyst), of.one
    unit = None if isinstance(whose, str) else whose.privacy_unit
    _print_and_exit(session.charge(guarantee, description=description, request=request,
                         privacy_unit=privacy_unit or unit), as_json=as_json)  # fmt: skip


@ledger_app.command("done")
def done_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    *,
    request: Annotated[str, option("NAME", "The name that the release was charged under.")],
    analyst: AnalystOption = None,
    note: Annotated[
        str, option("TEXT", "The place where the release is kept. Write nothing private.")
    ] = "made",
    as_json: AsJson = False,
) -> None:
    """Record that a charged release was made.

    Then it is not made again. The first note stays.

    Example: discreet ledger done budget.db --dataset adult --request m1 --note means.json
    """
    of = account(where, dataset)
    charge = of.ledger.session(of.one, analyst).done(request, note)
    _print_charge(charge, as_json=as_json)


@ledger_app.command("spent")
def spent_command(
    where: LedgerArgument = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    delta: Annotated[
        str,
        option("NUMBER", "The delta of (epsilon, delta)-DP, chosen without looking at answers."),
    ] = "1e-6",
    as_json: AsJson = False,
) -> None:
    """Show the guarantee of all answers so far.

    The guarantee holds for adaptively chosen questions and at any stopping time.

    With --analyst: show it for one analyst, if analysts share no answers and do not learn them by the ledger.

    Example: discreet ledger spent budget.db --dataset adult --delta 1e-6
    """
    of = account(where, dataset)
    total = of.ledger.spent(of.one, analyst)
    if as_json:
        at_delta = total.approx(delta).as_dict()
        print_json({**total.as_dict(), "at_delta": at_delta})
        return
    typer.echo(f"{translate(total)}\n{translate(total.in_words(delta))}")


def _quote_name(whose: "Dataset | str") -> str:
    return preview(whose if isinstance(whose, str) else whose.name)


def _read_guarantee(one: dict[str, Any], delta: Any, neighbors: Any) -> "Guarantee":
    """Return the guarantee for the given options: one number, or epsilon and delta."""
    from ..privacy import ZCDP, ApproxDP, GaussianDP, PureDP

    amounts = {name: value for name, value in one.items() if value is not None}
    if len(amounts) != 1 or (delta is not None and "epsilon" not in amounts):
        raise InvalidArgument(
            "what does the release promise? give --epsilon, --epsilon and --delta, --rho, or --mu"
        )
    [(name, value)] = amounts.items()
    if delta is not None:
        return ApproxDP(value, delta, neighbors)
    kinds: dict[str, Any] = {"epsilon": PureDP, "rho": ZCDP, "mu": GaussianDP}
    guarantee: Guarantee = kinds[name](value, neighbors)
    return guarantee


def _print_and_exit(charge: "Charge", *, as_json: bool) -> None:
    """Print a charge, and exit with 1 if it is not new, so that `charge ... && release` releases once."""
    _print_charge(charge, as_json=as_json)
    raise typer.Exit(int(not charge.is_new))


def _print_charge(charge: "Charge", *, as_json: bool) -> None:
    print_either(charge.as_dict(), translate(charge), as_json=as_json)


ledger_app.command("history")(history_command)
ledger_app.command("verify")(verify_command)
