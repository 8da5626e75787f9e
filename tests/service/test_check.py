"""check in the service: over HTTP as in this process, and at the pages, for analysts whose verbs have it."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import InvalidArgument, MissingColumn
from discreet.service.http.http_client import HttpClient
from discreet.tables.datasets.noisy_cell_counts import NoisyCellCounts

from .answer_times import answering
from .asking.test_connect import TEXT, write_files
from .http.test_http_client import InTheProcess
from .pages.person import Read, Served

ALLOWED = TEXT.replace('verbs = ["mode", "median"]', 'verbs = ["mode", "check"]')
PLAN = "/plan?dataset=people&verb=check&column=age&epsilon=1/8"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("check"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        yield Served(answering(ALLOWED), ("ann", "bob"))


def there(served: Served, who: str) -> Connection:
    """Return a connection over HTTP."""
    client = InTheProcess(served.app, served.tokens[who])
    client.headers = {**client.headers, "Host": "service.test"}
    return Connection(HttpClient(client), "a service")


def plain(text: str) -> str:
    return " ".join(Read(text).text.split())


def test_the_answer_is_the_same_over_http_and_in_this_process(served: Served) -> None:
    here, far = discreet.connect("discreet.toml", analyst="ann"), there(served, "ann")
    asked: Any = {"epsilon": "1/8", "request": "one"}
    assert far.quote_free("check", "people", "age", epsilon="1/8").cost.epsilon == Fraction(1, 8)
    first = far.check("people", "age", **asked)
    assert isinstance(first.value, NoisyCellCounts)
    assert first.value == here.check("people", "age", **asked).value
    assert first.value == far.ask_free("check", "people", "age", **asked).value
    error = far.quote_free("check", "people", "age", epsilon="1/8").worst_error
    assert error is not None
    assert error.error == first.value.error + 1


def test_it_is_refused_alike_and_costs_nothing(served: Served) -> None:
    both = discreet.connect("discreet.toml", analyst="ann"), there(served, "ann")
    spent = both[0].budgets()[0].spent
    for terms, error, said in (
        ({"column": "agee"}, MissingColumn, "did you mean 'age'"), ({"epsilon": 1}, InvalidArgument, "up to"),
        ({"size": 2}, InvalidArgument, "takes no 'size'"), ({"rho": 1}, InvalidArgument, "takes no 'rho'"),
        ({"candidates": [1]}, InvalidArgument, "takes no 'candidates'"), ({"by": "city"}, InvalidArgument, "'by'"),
        ({"epsilon": None}, InvalidArgument, "how much privacy"),
        ({"max_contributions": 2}, InvalidArgument, "declares none"),
    ):  # fmt: skip
        told = set()
        for connection in both:
            asked: Any = {"column": "age", "epsilon": "1/8", **terms}
            with pytest.raises(error, match=said) as caught:
                connection.ask_free("check", "people", **asked)
            told.add(str(caught.value))
        assert len(told) == 1
    assert both[0].budgets()[0].spent == spent
    for connection in (discreet.connect("discreet.toml", analyst="bob"), there(served, "bob")):
        with pytest.raises(InvalidArgument, match="not allowed"):
            connection.check("people", "age", epsilon="1/8")


@pytest.mark.parametrize(
    ("lang", "learn", "missing", "holds"),
    [
        (
            "en",
            "How many cells of age are as declared",
            "are missing",
            "With a probability of 95 %",
        ),
        ("zh", "age 的单元格大约有多少符合声明", "缺失", "概率为 95 %"),
    ],
)
def test_the_pages_plan_and_answer(
    served: Served, lang: str, learn: str, missing: str, holds: str
) -> None:
    person = served.person("ann", lang)
    form = Read(person.get("/free?dataset=people&verb=check&column=age").text)
    names = {
        found.get("name") for tag, found in form.elements if tag in ("input", "select", "textarea")
    }
    assert "epsilon" in names
    assert not names & {"candidates", "by", "size", "max_groups"}
    plan = person.read(PLAN + "&candidates=1&by=city&k=3")  # of a verb that was chosen first
    assert learn in plain(person.get(PLAN).text)
    reply = person.submit(plan.form("/ask"))
    assert reply.status_code == 200
    told = plain(reply.text)
    assert missing in told
    assert holds in told
    assert " – " in told
    again = person.submit(plan.form("/ask"))
    shown = [one for one in (reply.text, again.text) for one in [one[one.index('id="answer"') :]]]
    assert shown[0].partition("</table>")[0] == shown[1].partition("</table>")[0]


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "records span several lines."), ("zh", "条记录跨越多行。")]
)
def test_the_page_says_how_many_records_span_several_lines(
    served: Served, lang: str, said: str
) -> None:
    person = served.person("ann", lang)
    told = plain(person.submit(person.read(PLAN).form("/ask")).text)
    assert said in told


def test_a_named_question_checks_too(served: Served, tmp_path: Path) -> None:
    from discreet.errors import InvalidDescription
    from discreet.tables.datasets.configuration import read_configuration

    start = '[datasets.p]\nsource = "a.csv"\ncolumns.x = { type = "integer" }\n'
    file = tmp_path / "discreet.toml"
    file.write_text(start + 'questions.fit = { verb = "check", column = "x", epsilon = 1 }\n')
    assert read_configuration(file).questions["p"]["fit"]["verb"] == "check"
    for term in ("size = 2", 'by = "x"', "candidates = [1]", "rho = 1", "alpha = 1"):
        file.write_text(f'{start}questions.fit = {{ verb = "check", column = "x", {term} }}\n')
        with pytest.raises(InvalidDescription, match=term.partition(" ")[0]):
            read_configuration(file)
