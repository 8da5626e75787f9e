"""The pages in a real browser without scripts: an owner opens, an analyst plans and asks, an auditor verifies."""

import contextlib
import io
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from discreet.cli import run

from .test_style import contrast

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install --group browser"
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
if CHROMIUM is None:
    pytest.skip("there is no Chromium on the path", allow_module_level=True)

EXAMPLE = Path(__file__).parents[3] / "examples" / "marital_status.csv"
DESCRIPTION = """\
ledger = "budget.db"

[datasets.adult]
source = "adult.csv"
answers_after = "250ms"
budget = { epsilon = "3" }

[datasets.adult.columns.marital_status]
type = "string"
enum = [
  "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married", "Separated",
  "Widowed",
]

[datasets.adult.questions.marital-status]
verb = "mode"
column = "marital_status"
epsilon = "1/2"
description = "Which marital status is the most common?"

[datasets.people]
source = "people.csv"
answers_after = "250ms"
budget = { epsilon = "3" }

[datasets.people.columns.city]
type = "string"
enum = ["Basel", "Bern", "Genève", "Lausanne", "Winterthur", "Zürich"]

[datasets.people.columns.age]
type = "integer"
minimum = 0
maximum = 120

[analysts.team-a]
datasets = ["adult"]
share = { epsilon = "1" }
verbs = ["mode", "top_k"]

[analysts.team-b]
datasets = ["adult"]
share = { epsilon = "1" }
verbs = ["mode", "count", "sql"]
where = ["marital_status"]
"""
PEOPLE: dict[tuple[str, int | str], int] = {
    (city, age): 100 * rank * weight
    for rank, city in enumerate(("Basel", "Bern", "Genève", "Lausanne", "Winterthur", "Zürich"))
    for age, weight in ((10, 1), (30, 2), (50, 3), (70, 1), ("", 1))
}
"""How many people of a city have an age, which of some is missing."""

TOKEN = re.compile(r"discreet_[A-Za-z0-9_-]{43}")


@dataclass
class Service:
    """A service in a process of its own."""

    address: str
    owner: str


def command(*words: str) -> str:
    """Run a command, and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run(list(words)) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The owner describes the Adult data, opens a budget, makes a token, and serves."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("served"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield from served()


def served() -> Iterator[Service]:
    shutil.copy(EXAMPLE, "adult.csv")
    Path("discreet.toml").write_text(DESCRIPTION, encoding="utf-8")
    rows = (f"{city},{age}\n" for (city, age), size in PEOPLE.items() for _ in range(size))
    Path("people.csv").write_text("city,age\n" + "".join(rows), encoding="utf-8")
    command("ledger", "open", "adult")
    command("ledger", "open", "people")
    owner = TOKEN.findall(command("token", "create", "--role", "owner"))[0]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        sys.executable,
        "-m",
        "discreet",
        "serve",
        "--readers",
        "1",
        "--listen",
        f"127.0.0.1:{port}",
    ]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as serving:
        try:
            wait(port, serving)
            yield Service(f"http://127.0.0.1:{port}", owner)
        finally:
            serving.terminate()


def wait(port: int, serving: "subprocess.Popen[bytes]") -> None:
    """Wait until the service answers."""
    for _ in range(2000):
        assert serving.poll() is None, "the service ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the service does not answer")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # Chromium's own sandbox needs rights that a container may lack; the pages are ours.
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextlib.contextmanager
def person(browser: Any, service: Service, token: str, **kind: Any) -> Iterator[Any]:
    """Somebody logged in, in a browser without scripts, that may load nothing from elsewhere."""
    context = browser.new_context(**{"java_script_enabled": False, "locale": "en-GB", **kind})
    context.set_default_timeout(120_000)  # of a machine with much else to do
    page, elsewhere, refused = context.new_page(), [], []
    page.on(
        "request",
        lambda r: None if r.url.startswith((service.address, "data:")) else elsewhere.append(r.url),
    )
    page.on(
        "console", lambda m: refused.append(m.text) if "Content Security Policy" in m.text else None
    )
    page.goto(service.address)
    assert page.url.endswith("/login")
    page.fill("#token", token)
    page.press("#token", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)
    yield page
    assert (elsewhere, refused) == ([], [])
    context.close()


def told(page: Any) -> str:
    return " ".join(page.inner_text("main").split())


def test_an_owner_opens_an_analyst_asks_and_an_auditor_verifies(
    service: Service, browser: Any
) -> None:
    with person(browser, service, service.owner) as owner:
        owner.click("text=Access")
        owner.click("text=Open the declared share")
        assert "The share was opened." in told(owner)
        tokens = [make_token(owner, *who) for who in (("analyst", "team-a"), ("auditor", ""))]
    with person(browser, service, tokens[0]) as analyst:
        check_cookie(analyst)
        ask_until_it_is_spent(analyst)
        analyst.click("text=Log out")
        analyst.goto(f"{service.address}/budgets")
        assert analyst.url.endswith("/login")
    with person(browser, service, tokens[1]) as auditor:
        auditor.click("text=Verify the ledger")
        assert re.search(r"The ledger holds: \d+ events are what was written", told(auditor))
        head = auditor.inner_text("#head")
        auditor.fill("#noted", head)
        auditor.click("text=Verify the ledger")
        assert "is on its chain" in told(auditor)
        with auditor.expect_download() as report:
            auditor.click("text=Report about")
        assert "The privacy budget of adult" in Path(report.value.path()).read_text(
            encoding="utf-8"
        )


STATEMENT = """\
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)
    marital_status AS status, COUNT(*) AS people, MODE(marital_status) AS most
FROM adult WHERE marital_status <> 'Widowed'
GROUP BY marital_status ORDER BY people DESC LIMIT 3
"""


def test_a_statement_of_sql_is_priced_asked_and_paid_once(service: Service, browser: Any) -> None:
    """The box for SQL: what is wrong with a statement, then its price in parts, then the rows."""
    with person(browser, service, service.owner) as owner:
        owner.goto(f"{service.address}/access")
        owner.click("section:has-text('team-b') >> text=Open the declared share")
        token = make_token(owner, "analyst", "team-b")
    with person(browser, service, token) as analyst:
        analyst.click("text=Ask something of your own")
        analyst.select_option("#verb", "sql")
        analyst.click("main .primary")
        analyst.fill("#statement", STATEMENT.replace("COUNT(*)", "COUNT(1 + 1)"))
        analyst.click("main .primary")
        assert "COUNT(*) counts records" in told(analyst)
        assert "LIMIT 3" in analyst.input_value("#statement")
        analyst.fill("#statement", STATEMENT)
        analyst.click("main .primary")
        assert "people ε = 0.5 (add/remove one record)" in told(analyst)
        assert "Would remain ε = 0" in told(analyst)
        analyst.click("main .act button")
        assert "Married-civ-spouse" in analyst.inner_text("#answer")
        assert "It was paid now." in told(analyst)
        analyst.reload()
        assert "this time it cost nothing" in told(analyst)


def make_token(owner: Any, role: str, analyst: str) -> str:
    """Make a token at the owner's page."""
    owner.click("nav >> text=Tokens")
    owner.select_option("#role", role)
    owner.select_option("#analyst", analyst)
    owner.click("main .primary")
    return str(owner.inner_text("#token-text"))


def check_cookie(page: Any) -> None:
    """Check that the browser keeps the session for nobody but the service."""
    (session,) = [one for one in page.context.cookies() if one["name"] == "__Host-discreet"]
    assert (session["httpOnly"], session["secure"], session["sameSite"]) == (True, True, "Strict")


def ask_until_it_is_spent(analyst: Any) -> None:
    """Plan, ask, see the answer and what remains, ask the same again for nothing, and be refused at the end."""
    analyst.click("main .price >> text=Plan")
    assert "at most 62.3 % sure" in told(analyst)
    assert "Would remain ε = 0.5" in told(analyst)
    analyst.click("main .act button")
    # The counts differ by thousands, so another answer has a probability below e^-500.
    assert analyst.inner_text("#answer").strip() == "Married-civ-spouse"
    assert "It was paid now." in told(analyst)
    assert "Remaining now ε = 0.5" in told(analyst)
    analyst.reload()
    assert "this time it cost nothing" in told(analyst)
    analyst.click("nav >> text=Answers")
    analyst.click("text=Show again")
    assert analyst.inner_text("#answer").strip() == "Married-civ-spouse"
    assert "Remaining now ε = 0.5" in told(analyst)
    analyst.click("text=Ask something else")
    analyst.click("text=Ask something of your own")
    analyst.click("main .primary")  # the verb
    analyst.click("main .primary")  # the column
    analyst.fill("#epsilon", "1/2")
    analyst.click("main .primary")
    analyst.click("main .act button")
    assert "Remaining now ε = 0" in told(analyst)
    analyst.go_back()
    analyst.click("nav >> text=Questions")
    analyst.click("main .price >> text=Plan")
    assert "cannot pay this question" in told(analyst)
    assert not analyst.locator("main .act button").count()


@pytest.mark.proof
@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_is_wider_than_the_screen(
    service: Service, browser: Any, locale: str, scheme: str, width: int
) -> None:
    kind = {
        "viewport": {"width": width, "height": 800}, "color_scheme": scheme, "locale": locale,
        "java_script_enabled": True,
    }  # fmt: skip
    about = "dataset=adult"
    with person(browser, service, service.owner, **kind) as page:
        for path in (
            "/questions", f"/free?{about}", f"/free?{about}&verb=top_k&column=marital_status", "/budgets",
            "/access",
            f"/plan?{about}&question=marital-status", "/answers", "/tokens", "/history", "/nothing",
            f"/plan?{about}&verb=mode&column=marital_status&epsilon=x", f"/free?{about}&verb=sql",
            f"/plan?{about}&verb=sql&{urlencode({'statement': STATEMENT})}",
        ):  # fmt: skip
            page.goto(service.address + path)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
            assert page.evaluate("document.cookie") == ""


HEAT_MAP = {
    "dataset": "people", "verb": "counts", "epsilon": "1/2", "column": "city", "column_2": "age",
    "bins": "age: 20 to 60 by 10", "below": "yes", "above": "yes", "missing": "yes",
}  # fmt: skip


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_heat_map_is_drawn_explained_and_readable(
    service: Service, browser: Any, scheme: str, width: int
) -> None:
    """Counts of two columns: shades that rise with them, a legend, a table by its roles, and a region to scroll."""
    kind = {
        "viewport": {"width": width, "height": 800}, "color_scheme": scheme, "java_script_enabled": True,
    }  # fmt: skip
    with person(browser, service, service.owner, **kind) as page:
        page.goto(f"{service.address}/free?{urlencode(HEAT_MAP)}")
        assert page.get_by_label("A cell for what is below the bins").is_checked()
        page.click("main .primary")
        page.click("main .act button")
        table = page.get_by_role("table", name="The larger a count, the stronger its colour.")
        check_labels(table)
        cells = [(int(text.replace(",", "")), shade) for text, shade, _ in colours(table, "td")]
        check_shades(cells)
        for _, ground, ink in colours(table, "td"):
            assert contrast(ground, ink) >= 4.5
        legend = table.locator(".legend")
        assert legend.inner_text().split()[-1] == f"{max(cells)[0]:,}"
        in_legend = [shade for _, shade, _ in colours(legend, "span")]
        assert len(in_legend) == 10
        assert {shade for _, shade in cells} <= {*in_legend}
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        check_scrolling(page, table, is_wider=width < 400)


def check_labels(table: Any) -> None:
    """Check that a table tells its rows and columns by their roles."""
    columns = table.get_by_role("columnheader").all_inner_texts()
    assert columns == ["age / city", "Basel", "Bern", "Genève", "Lausanne", "Winterthur", "Zürich"]
    rows = table.get_by_role("rowheader").all_inner_texts()
    assert rows == [
        "below 20", "[20, 30)", "[30, 40)", "[40, 50)", "[50, 60)", "60 or above", "missing",
    ]  # fmt: skip
    assert table.get_by_role("cell").count() == 42


def colours(part: Any, kind: str) -> list[tuple[str, str, str]]:
    """Return the texts of elements, the colours behind them, and those of the texts."""
    behind = """
        all => all.map(one => {
          const canvas = document.createElement('canvas').getContext('2d');
          const hex = colour => {
            canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--paper');
            canvas.fillRect(0, 0, 1, 1);
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
            return '#' + [r, g, b].map(n => n.toString(16).padStart(2, '0')).join('');
          };
          const style = getComputedStyle(one);
          return [one.innerText, hex(style.backgroundColor), hex(style.color)];
        })
    """
    found: list[tuple[str, str, str]] = part.locator(f":scope {kind}").evaluate_all(behind)
    return [(text, ground, ink) for text, ground, ink in found]


def check_shades(cells: list[tuple[int, str]]) -> None:
    """Check that a larger count has a colour farther from that of the least one, or the same."""
    shades = [shade for _, shade in sorted(cells)]
    steps = [contrast(shades[0], shade) for shade in shades]
    assert steps == sorted(steps)
    assert len({*shades}) >= 6
    assert steps[-1] > 1.5


def check_scrolling(page: Any, table: Any, *, is_wider: bool) -> None:
    """Check that the keyboard reaches a table and scrolls it, and that the names of its rows stay in view."""
    name = table.get_by_role("rowheader").first
    before = name.bounding_box()["x"]
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "answer":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)  # it scrolls smoothly
    assert (page.evaluate("document.activeElement.scrollLeft") > 0) == is_wider
    assert name.bounding_box()["x"] == pytest.approx(before, abs=1)


@pytest.mark.proof
def test_a_keyboard_is_enough(service: Service, browser: Any) -> None:
    with person(browser, service, service.owner, java_script_enabled=True) as page:
        page.goto(f"{service.address}/budgets")
        seen = []
        for _ in range(11):
            page.keyboard.press("Tab")
            focus = "getComputedStyle(document.activeElement).outlineStyle"
            seen.append(
                (page.evaluate("document.activeElement.innerText.trim()"), page.evaluate(focus))
            )
        assert seen[0][0] == "Skip to the content"
        assert {"Questions", "Tokens", "Log out"} <= {text for text, _ in seen}
        assert {outline for _, outline in seen} == {"solid"}
