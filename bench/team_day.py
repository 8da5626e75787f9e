"""A day of a team in a minute: `python -m bench.team_day [ROWS] [SECONDS]`.

Three analysts ask `discreet serve` again and again about a table of a PostgreSQL server of its own, while another
session loads rows into it, changes some and deletes others. Printed are the answers, how long they took, and the
questions that failed.
"""

import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections import defaultdict
from pathlib import Path

from sqlalchemy import create_engine, text
from tests import postgres

import discreet
from discreet.errors import DiscreetError
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside

from .load import start
from .servers import TABLE

ANALYSTS = ("ann", "bob", "cem")

DESCRIPTION = """
ledger = "budget.db"

[datasets.shop]
connection = "{url}"
table = "t"
privacy_unit = "k"
max_contributions = 5
budget = {{ epsilon = 1_000_000, delta = "0.5", delta_for = "questions" }}
answers_after = "0s"
longest = "1200s"
columns.drink = {{ type = "string", enum = ["tea", "coffee", "milk"] }}
columns.page = {{ type = "string" }}
columns.f = {{ type = "number", minimum = 0, maximum = 1000, step = "0.01" }}
questions.drink = {{ verb = "mode", column = "drink", epsilon = 1 }}
questions.many = {{ verb = "count", where = "f > 500", epsilon = 1 }}
questions.pages = {{ verb = "counts", column = "page", epsilon = 1, delta = "1e-9" }}
questions.middle = {{ verb = "median", column = "f", epsilon = 1 }}

"""

_SHARE = """[analysts.{}]
datasets = ["shop"]
share = {{ epsilon = 100_000, delta = "0.1" }}
"""

LOAD = (
    "INSERT INTO t SELECT i, i % 1000, 'tea', 'page' || i % 999, i % 1000, 1, i "
    "FROM generate_series(1, 50000) AS i",
    "UPDATE t SET f = f + 1 WHERE id % 1000 = 7",
    "DELETE FROM t WHERE id % 1000 = 9",
)


def load(url: str, is_over: threading.Event) -> None:
    """Change the table until it is over."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    while not is_over.is_set():
        for one in LOAD:
            with engine.begin() as connection:
                connection.execute(text(one))
    engine.dispose()


def ask(
    url: str, token: str, until: float, took: dict[str, list[float]], failed: list[str]
) -> None:
    """Ask the questions in turns, and note how long each took, or that it failed."""
    connection = discreet.connect(url, token=token)
    while time.monotonic() < until:
        for question in ("drink", "many", "pages", "middle"):
            begun = time.monotonic()
            try:
                connection.ask(question)
            except DiscreetError as error:
                failed.append(f"{question}: {type(error).__name__}: {error}")
            else:
                took[question].append(time.monotonic() - begun)


def describe(folder: Path, url: str) -> list[str]:
    """Describe the table in a folder, open its budgets, and return the tokens of the analysts."""
    place = folder / "discreet.toml"
    shares = "".join(_SHARE.format(analyst) for analyst in ANALYSTS)
    place.write_text(DESCRIPTION.format(url=url) + shares)
    for analyst in (None, *ANALYSTS):
        open_described(configuration(place), "shop", analyst)
    known = tokens_beside(place)
    return [known.create("analyst", one, read_expiry("1d"))[0] for one in ANALYSTS]


def work(url: str, folder: Path, seconds: float) -> None:
    """Let analysts ask for so many seconds beside the load, and print how that went."""
    took, failed, is_over = defaultdict[str, list[float]](list), list[str](), threading.Event()
    tokens, loader = describe(folder, url), threading.Thread(target=load, args=(url, is_over))
    with start(folder) as port:
        until, service = time.monotonic() + seconds, f"http://127.0.0.1:{port}"
        terms = ((service, token, until, took, failed) for token in tokens)
        analysts = [threading.Thread(target=ask, args=one) for one in terms]
        for thread in (loader, *analysts):
            thread.start()
        for thread in analysts:
            thread.join()
        is_over.set()
        loader.join()
    for question, times in took.items():
        middle = statistics.median(times)
        print(f"{question:8} {len(times):4} answers, {middle:6.2f} s, at most {max(times):6.2f} s")
    print(f"{len(failed)} questions failed", *failed, sep="\n")


def main() -> None:
    """Make the table, and let all go on for so long."""
    warnings.simplefilter("ignore")
    rows, seconds = [*map(float, sys.argv[1:]), *(1e6, 60.0)[len(sys.argv) - 1 :]]
    with postgres.server() as url, tempfile.TemporaryDirectory(prefix="discreet-day-") as folder:
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            connection.execute(text(TABLE.format(rows=int(rows)).replace("::", r"\:\:")))
        engine.dispose()
        work(url, Path(folder), seconds)


if __name__ == "__main__":
    main()
