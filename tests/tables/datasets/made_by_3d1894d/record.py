"""What a discreet.toml says, and by which digests a ledger knows its datasets and questions, as plain values.

`python -m tests.tables.datasets.made_by_3d1894d.record`, run at 3d1894d, printed recorded.json. Some
keys and `best_price` had other names there, and the digests are the same.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.tables.datasets.configuration import Configuration, read_document, read_toml

HERE = Path(__file__).parent
TEXT = (HERE / "discreet.toml").read_text(encoding="utf-8")
PLACE = Path("/nowhere/discreet.toml")


class _Account:
    """Keeps the digest of a bill, and refuses to pay it."""

    digest = ""

    def buy(self, bill: Any, prepare: object) -> Any:
        self.digest = bill.digest
        raise InvalidArgument("a bill was made")


def question_digest(dataset: discreet.Dataset, question: Mapping[str, Any]) -> str:
    """Return the digest by which a ledger knows the request of a question again; no data are read."""
    arguments = {
        key: value for key, value in question.items() if key not in ("verb", "description")
    }
    account = _Account()
    with pytest.raises(InvalidArgument):
        getattr(discreet, question["verb"])(dataset, ledger=account, request="r", **arguments)
    return account.digest


def recorded(configuration: Configuration) -> dict[str, Any]:
    """Return what is recorded of a file."""
    named = configuration.datasets
    return {
        "datasets": {name: dataset.digest for name, dataset in named.items()},
        "places": {name: dataset.place for name, dataset in named.items()},
        "questions": {
            f"{name}/{access}": question_digest(named[name], question)
            for name, questions in configuration.questions.items()
            for access, question in questions.items()
        },
        "budgets": repr(configuration.budgets),
        "analysts": repr(configuration.analysts),
        "server": repr(configuration.server),
    }


def read(text: str) -> Configuration:
    """Return what a text declares, in a folder that is on no machine."""
    return read_document(read_toml(text), PLACE)


if __name__ == "__main__":
    print(json.dumps(recorded(read(TEXT)), indent=1))
