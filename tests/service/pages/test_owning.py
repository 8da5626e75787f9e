"""The owner's pages: shares, budgets, tokens. What is shown is what is so, and a token is shown once."""

import re
from pathlib import Path

import pytest

import discreet
from discreet.service.asking.tokens import tokens_beside

from ..asking.test_connect import TEXT, write_files
from .person import LATER, Person, Read, Served

TOKEN = re.compile(r"discreet_[A-Za-z0-9_-]{43}")


def plain(text: str) -> str:
    return " ".join(Read(text).text.split())


def entered(served: Served, token: str) -> Person:
    person = served.person()
    assert person.enter(token).status_code == 303
    return person


def test_a_token_is_made_shown_once_used_and_revoked(served: Served) -> None:
    owner = served.person("owner")
    form = owner.read("/tokens").form("/tokens")
    made = owner.submit(form, role="analyst", analyst="ann", expires="2d")
    (token,) = TOKEN.findall(made.text)
    assert not TOKEN.findall(owner.get("/tokens").text)
    ann = entered(served, token)
    assert "Logged in as ann" in plain(ann.get("/budgets").text)
    (kept,) = [
        one
        for one in tokens_beside(Path("discreet.toml")).list_all()
        if one.id in made.text and one.expires < "2990"
    ]
    revoking = owner.read("/tokens").form("/tokens/revoke", identity=kept.id)
    assert owner.submit(revoking).headers["location"] == "/tokens?done=revoked"
    assert ann.get("/budgets").headers["location"] == "/login"


def test_an_owner_who_revokes_the_token_of_the_session_is_out(served: Served) -> None:
    owner = served.person("owner")
    made = owner.submit(owner.read("/tokens").form("/tokens"), role="owner", expires="2d")
    other = entered(served, TOKEN.findall(made.text)[0])
    mine = other.read("/tokens").text
    (identity,) = re.findall(r"([0-9a-f]{12}) yours", " ".join(mine.split()))
    other.submit(other.read("/tokens").form("/tokens/revoke", identity=identity))
    assert other.get("/tokens").headers["location"] == "/login"
    assert owner.get("/tokens").status_code == 200


@pytest.mark.parametrize(
    "filled",
    [
        {"role": "analyst"}, {"role": "owner", "analyst": "ann"}, {"role": "analyst", "analyst": "nobody"},
        {"role": "root"}, {"role": "auditor", "expires": "x"}, {"role": "auditor", "expires": "2001-01-01"},
    ],
)  # fmt: skip
def test_what_is_no_token_is_not_made(served: Served, filled: dict[str, str]) -> None:
    owner, known = served.person("owner"), tokens_beside(Path("discreet.toml"))
    before = known.list_all()
    reply = owner.submit(owner.read("/tokens").form("/tokens"), **filled)
    assert reply.status_code in (404, 422)
    assert known.list_all() == before


def test_a_share_is_opened_and_the_analyst_may_ask(served: Served) -> None:
    owner = served.person("owner")
    waiting = entered(
        served, tokens_beside(Path("discreet.toml")).create("analyst", "eve", LATER)[0]
    )
    assert "Not open yet" in plain(waiting.get("/questions").text)
    form = owner.read("/access").form("/access", analyst="eve")
    assert owner.submit(form, epsilon="").status_code == 422
    assert owner.submit(form, epsilon="1/2").status_code == 303
    assert "The share was opened." in plain(owner.get("/access?done=opened").text)
    assert "high" in waiting.read("/questions").text
    assert "ε = 0.5" in waiting.read("/budgets").text


@pytest.mark.parametrize(
    "changed", [{"dataset": "people"}, {"analyst": "nobody"}, {"dataset": "none"}]
)
def test_no_share_is_opened_that_the_description_does_not_allow(
    served: Served, changed: dict[str, str]
) -> None:
    owner, before = served.person("owner"), discreet.Ledger("budget.db").budgets()
    secret = owner.read("/access").forms[0].fields["secret"]
    sent = {"secret": secret, "analyst": "eve", "dataset": "rivals", "epsilon": "1", **changed}
    assert owner.send("POST", "/access", data=sent).status_code in (404, 422)
    assert discreet.Ledger("budget.db").budgets() == before


def test_a_budget_is_extended_to_more_and_never_to_less(served: Served) -> None:
    owner = served.person("owner")
    form = owner.read("/budgets").form("/budgets", dataset="rivals", analyst="")
    assert owner.submit(form, epsilon="12").headers["location"] == "/budgets?done=extended"
    assert owner.submit(form, epsilon="11").status_code == 422
    assert owner.submit(form, epsilon="-1").status_code == 422
    assert owner.submit(form, epsilon="").status_code == 422
    (whole,) = [b for b in discreet.Ledger("budget.db").budgets() if b.name == "rivals"]
    assert whole.total.epsilon == 12
    share = owner.read("/budgets").form("/budgets", dataset="people", analyst="ann")
    assert owner.submit(share, epsilon="11").status_code == 303


def test_access_says_what_the_file_says(served: Served) -> None:
    told = plain(served.person("owner").get("/access").text)
    assert "written in discreet.toml" in told
    assert "Most common value, Median" in told
    assert "ε = 1/4" in told
    assert "Late answers" not in told


MORE = """\
[datasets.others]
source = "rivals.csv"
budget = { epsilon = "2" }
columns.x = { type = "integer", minimum = 0, maximum = 9 }
[datasets.monthly]
source = "monthly.csv"
budget = { epsilon = "4", period = "month" }
columns.x = { type = "integer", minimum = 0, maximum = 9 }
[datasets.plain]
source = "plain.csv"
columns.x = { type = "integer", minimum = 0, maximum = 9 }
"""


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """The owner of a service some of whose datasets have no budget yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    for name in ("monthly.csv", "plain.csv"):
        Path(name).write_text("x\n1\n2\n")
    return Served(TEXT.replace("[analysts.ann]", f"{MORE}[analysts.ann]")).person("owner")


def test_a_budget_is_renewed_with_its_declared_shares(owner: Person) -> None:
    form = owner.read("/budgets").form("/budgets/renew", dataset="rivals")
    assert owner.submit(form, period="").status_code == 422
    assert owner.submit(form, period="2027").headers["location"] == "/budgets?done=renewed"
    assert "The next budget was opened." in plain(owner.get("/budgets?done=renewed").text)
    budgets = {one.name: one for one in discreet.Ledger("budget.db").budgets()}
    assert budgets["rivals 2027"].total.epsilon == 9
    assert budgets["rivals 2027 / bob"].total.epsilon == 3
    form = owner.read("/budgets").form("/budgets/renew", dataset="rivals")
    assert owner.submit(form, period="2028", epsilon="5").status_code == 303
    assert discreet.connect().quote("high").name == "rivals 2028"
    again = owner.submit(form, period="2028", epsilon="6")
    assert (again.status_code, "2028" in again.text) == (422, True)


def test_a_budget_of_a_dataset_is_opened_and_one_of_its_own_if_the_owner_says_so(
    owner: Person,
) -> None:
    page = owner.read("/budgets")
    assert page.text.count("No budget was opened yet") == 2
    assert "A budget of its own for others" in " ".join(page.text.split())
    form = page.form("/budgets/open", dataset="others")
    shared = owner.submit(form, separate="")
    assert (shared.status_code, "--separate" in shared.text) == (422, True)
    opened = owner.submit(form, separate="yes")
    assert opened.headers["location"] == "/budgets?done=budget_opened"
    event = discreet.Ledger("budget.db").history()[-1]
    assert (event.dataset, event.body["separate_from"]) == ("others", ["rivals"])
    plain_one = page.form("/budgets/open", dataset="plain")
    assert owner.submit(plain_one, separate="").status_code == 422  # it declares no total
    assert owner.submit(plain_one, separate="", epsilon="1/2").status_code == 303
    assert owner.read("/budgets").text.count("No budget was opened yet") == 1
    asking = owner.get("/free?dataset=monthly")
    assert (asking.status_code, "Not open yet" in asking.text) == (403, True)


def test_a_budget_of_calendar_periods_asks_for_no_name(owner: Person) -> None:
    form = owner.read("/budgets").form("/budgets/open", dataset="monthly")
    assert owner.submit(form, separate="").status_code == 303
    page = owner.read("/budgets")
    renewing = page.form("/budgets/renew", dataset="monthly")
    assert "period" not in renewing.fields
    assert "the next one can be opened when that has ended" in page.text
    early = owner.submit(renewing)
    assert early.status_code == 422
    assert "of this month" in plain(early.text) or "ended" in plain(early.text)


def test_the_pages_of_budgets_speak_chinese(owner: Person) -> None:
    page = plain(owner.get("/budgets?lang=zh").text)
    assert "开立下一个预算" in page
    assert "它与其他数据集共用数据库或文件" in page
