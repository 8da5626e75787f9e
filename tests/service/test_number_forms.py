"""Values that arrive in a column with a form of numbers are counted as numbers, or refused: never as texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import InvalidCandidates, InvalidDescription
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.mcp.assistant_tools import call_tool
from discreet.service.pages.question_form import QuestionForm

from .answer_times import answering
from .http.test_http_client import LATER, InTheProcess

TEXT = """
ledger = "budget.db"
[datasets.people]
source = "people.csv"
csv.decimal = ","
csv.delimiter = ";"
columns.paid = { type = "number" }
budget = { epsilon = 9999 }
[datasets.people.questions.paid]
verb = "counts"
column = "paid"
candidates = [12, 3]
epsilon = 99
[analysts.ann]
datasets = ["people"]
share = { epsilon = 9999 }
verbs = ["counts"]
max_epsilon = 99
"""
NO_VALUE = r"'?12'? is not a value of column 'paid', which is declared as number"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    (tmp_path / "people.csv").write_text("paid\n12,0\n12\n12,50\n3\n")
    (tmp_path / "discreet.toml").write_text(answering(TEXT))
    description = configuration(tmp_path / "discreet.toml")
    open_described(description, "people")
    open_described(description, "people", "ann")
    return tmp_path


def over_http() -> Connection:
    token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
    app: Any = make_app(configuration(), ["testserver"])
    return Connection(HttpClient(InTheProcess(app, token)), "a service")


def by_hand(connection: Connection, candidates: list[Any]) -> Any:
    return connection.counts("people", "paid", candidates=candidates, epsilon=99).value


def by_an_assistant(connection: Connection, candidates: list[Any]) -> Any:
    terms = {"candidates": candidates, "epsilon": 99}
    asked = {"dataset": "people", "verb": "counts", "column": "paid", "terms": terms}
    reply = call_tool(connection, "ask", {**asked, "request": "r", "max_cost": 99})
    if "error" in reply:
        raise InvalidCandidates(reply["error"])
    return {float(one): number for one, number in reply["value"].items()}


ASKED: dict[str, Callable[[Connection, list[Any]], Any]] = {
    "by hand": by_hand,
    "by an assistant": by_an_assistant,
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("connect", [discreet.connect, over_http])
def test_numbers_count_and_texts_are_refused(
    asked: str, connect: Callable[..., Connection], folder: Path
) -> None:
    del folder
    connection = connect() if connect is over_http else connect(analyst="ann")
    with pytest.raises(InvalidCandidates, match=NO_VALUE):
        ASKED[asked](connection, ["12", "3"])
    assert connection.budgets()[0].spent.epsilon == 0
    assert ASKED[asked](connection, [12, 3]) == {12: 2, 3: 1}


def test_a_page_reads_texts_as_numbers(folder: Path) -> None:
    fields = {"dataset": "people", "verb": "counts", "column": "paid", "epsilon": "99"}
    form = QuestionForm({**fields, "candidates": "12\n3"})
    assert form.ask(over_http(), "r", "99").value == {12: 2, 3: 1}


def test_a_question_of_a_description_has_numbers(folder: Path) -> None:
    assert discreet.connect(analyst="ann").ask("paid").value == {12: 2, 3: 1}
    (folder / "discreet.toml").write_text(answering(TEXT).replace("[12, 3]", '["12", "3"]'))
    with pytest.raises(InvalidDescription, match=NO_VALUE):
        discreet.connect(analyst="ann").ask("paid")
