"""JSON on stdout: letters as they are, and escapes for characters that a terminal would obey or hide."""

import json
import sys

import typer


def print_json(plain: object, *, indent: int | None = None) -> None:
    """Print plain values as JSON: on one line unless it is indented, in ASCII if stdout cannot hold the letters."""
    text = json_text(plain, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = json.dumps(plain, indent=indent)
    typer.echo(text)


def print_either(plain: object, text: object, *, as_json: bool) -> None:
    """Print plain values as JSON if that is asked for, else the text."""
    if as_json:
        print_json(plain)
    else:
        typer.echo(str(text))


def json_text(plain: object, *, indent: int | None = None) -> str:
    """Return plain values as JSON; control, bidirectional, invisible and line-separating characters are escaped."""
    text = json.dumps(plain, ensure_ascii=False, indent=indent)
    return "".join(
        sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text
    )
