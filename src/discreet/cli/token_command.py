"""discreet token: make, list and revoke the tokens of a description."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .answer_output import say
from .json_output import print_json
from .options import AsJson, argument, option

if TYPE_CHECKING:
    from ..service.asking.tokens import Tokens
    from ..tables.datasets.configuration import Configuration

token_app = typer.Typer(
    name="token",
    help="Create and revoke the tokens of analysts. Their hashes are stored next to discreet.toml.",
    no_args_is_help=True,
)

ConfigOption = Annotated[
    Path | None,
    option(
        "FILE",
        "The description. The default is discreet.toml in this folder or the nearest one above.",
        "--config",
    ),
]


@token_app.command("create")
def create_command(
    role: Annotated[str, option("ROLE", "The role: owner, analyst or auditor.")],
    analyst: Annotated[str | None, option("NAME", "The analyst of discreet.toml.")] = None,
    expires: Annotated[
        str, option("WHEN", "The lifetime in days, such as 90d, or a date, such as 2027-01-31.")
    ] = "90d",
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once. Only its hash is kept.

    Example: discreet token create --role analyst --analyst team-a --expires 90d
    """
    from ..service.asking.tokens import read_expiry

    description, tokens = _read_tokens(config)
    if analyst is not None:
        description.analyst(analyst)
    text, token = tokens.create(role, analyst, read_expiry(expires))
    if as_json:
        print_json({"token": text, **token.as_dict()})
        return
    typer.echo(text)
    say(f"{token}. It is not shown again")


@token_app.command("list")
def list_command(config: ConfigOption = None, as_json: AsJson = False) -> None:
    """List the tokens that were not revoked.

    The list shows what each token allows, but never the token itself.

    Example: discreet token list
    """
    tokens = _read_tokens(config)[1].list_all()
    if as_json:
        print_json([one.as_dict() for one in tokens])
        return
    for one in tokens:
        typer.echo(str(one))


@token_app.command("revoke")
def revoke_command(
    identity: Annotated[str, argument("ID", "The id that discreet token list shows.")],
    config: ConfigOption = None,
) -> None:
    """Revoke a token and all that were made with it.

    The service rejects them from now on.

    Example: discreet token revoke 3f9a1c0b7d22
    """
    for one in _read_tokens(config)[1].revoke(identity):
        say(f"revoked: {one}")


def _read_tokens(config: Path | None) -> "tuple[Configuration, Tokens]":
    """Return the description, and the tokens beside it."""
    from ..ledger.toml_budgets import configuration
    from ..service.asking.tokens import tokens_beside

    description = configuration(config)
    return description, tokens_beside(description.path)
