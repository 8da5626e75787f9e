"""Replies tell nothing but what they say: about neighbouring data, about data that fail, about hostile names."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.queue.padding import LENGTH, QUANTUM, Clock, Padding

from .test_http_client import LATER, InTheProcess

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "people.csv"
budget = { epsilon = "1000" }
max_failures = 1000
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.city = { type = "string", enum = ["Bern", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"] }
[datasets.people.questions.typical]
verb = "median"
column = "age"
epsilon = "1/2"
[analysts.ann]
datasets = ["people"]
share = { epsilon = "1000" }
verbs = ["mode", "top_k", "median", "minimum", "maximum", "quantile", "quantiles", "best_price"]
"""

FREE: list[tuple[str, str, dict[str, Any]]] = [
    ("mode", "city", {}), ("mode", "city", {"by": "age", "groups": [1, 30, 120]}),
    ("top_k", "city", {"k": 2}), ("median", "age", {}), ("median", "age", {"by": "city"}),
    ("minimum", "age", {}), ("maximum", "age", {}), ("quantile", "age", {"alpha": "0.9"}),
    ("quantiles", "age", {"alphas": ["1/4", "3/4"], "by": "city"}), ("best_price", "age", {}),
]  # fmt: skip
THERE = "age,city\n" + "30,Bern\n" * 40
LONG = "120,Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch\n"
DATA: list[str | None] = [
    THERE, THERE + LONG, THERE[: -len("30,Bern\n")], "age,city\n", "age,city\n" + LONG * 40,
    "age\n1\n", "", "\0", THERE + '"', None,
]  # fmt: skip
"""Data, neighbours of them, data whose answers are long, and data that fail."""


class Timed:
    """A service whose time stands still, but for what replies wait for."""

    def __init__(self) -> None:
        token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.waited: list[float] = []
        app = make_app(configuration(), ["service.test"])
        assert isinstance(app, Padding)
        self.app = app
        self.app.clock = Clock(lambda: 0.0, self._wait)

    async def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)

    def post(self, path: str, key: str, sent: dict[str, Any]) -> Any:
        async def replied() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://service.test"
            ) as client:
                headers = {**self.headers, "Idempotency-Key": key}
                return await client.post(path, json=sent, headers=headers)

        return asyncio.run(replied())


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Timed]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("replies"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        Path("discreet.toml").write_text(TEXT)
        open_described(configuration(), "people")
        open_described(configuration(), "people", "ann")
        yield Timed()


@pytest.mark.parametrize(("verb", "column", "terms"), [("typical", "", {}), *FREE])
@pytest.mark.one_in(4)
def test_replies_about_all_data_have_one_time_and_one_length(
    timed: Timed, verb: str, column: str, terms: dict[str, Any]
) -> None:
    seen, statuses = set(), []
    timed.waited.clear()
    named = {"question": verb}
    free = {"verb": verb, "dataset": "people", "column": column}
    sent = {**free, "terms": {**terms, "epsilon": "1/2"}} if column else named
    for i, text in enumerate(DATA):
        if text is None:
            Path("people.csv").unlink()
        else:
            Path("people.csv").write_text(text)
        path = "/v1/verbs/answers" if column else "/v1/answers"
        reply = timed.post(path, f"{verb} {column} {terms} {i}"[:200], sent)
        statuses.append(reply.status_code)
        seen.add((len(reply.content), tuple(sorted(reply.headers.items()))))
    assert seen == {
        (
            LENGTH,
            (
                ("content-length", str(LENGTH)),
                ("content-type", "application/json"),
                ("idempotent-replayed", "?0"),
            ),
        )
    }
    assert timed.waited == [QUANTUM] * len(DATA)
    assert statuses[:5] == [200] * 5
    assert {*statuses[5:]} <= {200, 500}
    assert 500 in statuses


def test_refusals_have_the_time_and_the_length_of_answers(timed: Timed) -> None:
    timed.waited.clear()
    refused = [
        timed.post("/v1/answers", "r", {"question": "none"}),
        timed.post("/v1/answers", "r", {"question": "typical", "max_cost": "1/4"}),
        timed.post("/v1/answers", "r", {"question": "typical", "max_cost": "x"}),
        timed.post("/v1/verbs/answers", "r", {}),
        timed.post("/nowhere", "r", {}),
        timed.post("/v1/answers", "r" * 300, {"question": "typical"}),
    ]
    assert [reply.status_code for reply in refused] == [404, 422, 422, 422, 404, 422]
    assert {len(reply.content) for reply in refused} == {LENGTH}
    assert timed.waited == [QUANTUM] * 6


def test_what_the_application_fails_at_is_a_reply_like_others_and_says_nothing(
    timed: Timed, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("SECRET")

    inner, timed.app.app = timed.app.app, failing
    timed.waited.clear()
    reply = timed.post("/v1/answers", "r", {"question": "typical"})
    timed.app.app = inner
    assert (reply.status_code, len(reply.content)) == (503, LENGTH)
    assert reply.json()["error"] == "DiscreetError"
    assert timed.waited == [QUANTUM]
    assert "SECRET" not in reply.text + caplog.text


HOSTILE = [
    '<script>alert("x")</script>', "'; DROP TABLE events; --", "../../etc/passwd", "a b", "%2e%2e%2f", "{{7*7}}",
    "Zürich \U0001f3d4", "$map", "=1+1", "null", "__proto__",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, Connection]]:
    """Connections here and there, about data in which everything has a hostile name."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("hostile"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        quoted = ", ".join(f"'''{value}'''" for value in HOSTILE)
        tables = "".join(_described(name, quoted) for name in HOSTILE)
        Path("discreet.toml").write_text(f'ledger = "budget.db"\n{tables}', encoding="utf-8")
        declared = configuration()
        for i, name in enumerate(HOSTILE):
            cells = "\n".join('"' + value.replace('"', '""') + '"' for value in HOSTILE[i:] * 30)
            Path(f"{i}.csv").write_text(f'"{name.replace(chr(34), chr(34) * 2)}"\n{cells}\n')
            open_described(declared, name)
        token, _ = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)
        app: Any = make_app(declared, ["testserver"])
        yield discreet.connect(), Connection(HttpClient(InTheProcess(app, token)), "a service")


def _described(name: str, quoted: str) -> str:
    key = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return (
        f'[datasets.{key}]\nsource = "{HOSTILE.index(name)}.csv"\n'
        'answers_after = "0s"\nbudget = { epsilon = "999" }\n'
        f'columns.{key} = {{ type = "string", enum = [{quoted}] }}\n'
        f'questions.{key} = {{ verb = "mode", column = {key}, epsilon = 90 }}\n'
    )


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.one_in(4)
def test_hostile_names_are_names(hostile: tuple[Connection, Connection], name: str) -> None:
    here, there = hostile
    assert there.columns(name) == here.columns(name)
    assert there.quote(name, dataset=name) == here.quote(name, dataset=name)
    asked = there.ask(name, dataset=name, request=f"{name} 1")
    again = here.ask(name, dataset=name, request=f"{name} 1")
    assert (asked.value, asked.query) == (again.value, again.query)
    assert asked.value in HOSTILE
    free = there.top_k(name, name, k=1, epsilon=90, by=name, groups=[name], request=f"{name} 2")
    assert {*free.value} == {name}
    assert {one.request for one in there.releases()} >= {f"{name} 1", f"{name} 2"}
    assert [b.name for b in there.budgets()] == [b.name for b in here.budgets()]
