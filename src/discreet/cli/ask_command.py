"""discreet ask: a question that discreet.toml names, charged as it declares."""

from typing import Annotated

from .answer_output import show_release
from .completion import analyst_names, dataset_names, question_names
from .json_output import print_either
from .options import AsJson, DryRun, RequestName, argument, option

_Question = Annotated[
    str, argument("QUESTION", "A question of discreet.toml.", completes=question_names)
]


def ask_command(
    question: _Question,
    dataset: Annotated[
        str | None,
        option(
            "NAME", "The dataset, if several have a question of this name.", completes=dataset_names
        ),
    ] = None,
    analyst: Annotated[
        str | None, option("NAME", "Ask as this analyst of discreet.toml.", completes=analyst_names)
    ] = None,
    request: RequestName = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Ask a question named in discreet.toml.

    The answer is charged to the budget of the dataset. With --analyst it is charged to the share too.

    Example: discreet ask typical-age --request monday
    """
    from ..service.asking.connect import connect  # heavy, and other commands do without

    asking = connect(analyst=analyst)
    if dry_run:
        quote = asking.quote(question, dataset=dataset)
        print_either(quote.as_dict(), quote, as_json=as_json)
        return
    release = asking.ask(question, dataset=dataset, request=request)
    subject = {"question": question, "dataset": dataset, "analyst": analyst, "request": request}
    show_release(release, subject, as_json=as_json)
