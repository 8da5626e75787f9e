"""A service of 3d1894d's discreet.toml starts, with the warnings that docs/how-to/upgrade.md shows."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.ledger.toml_budgets import configuration, open_described

from ..datasets.made_by_3d1894d.record import OLD_TEXT
from ..storm import fast_place
from .running import Running

PAGE = Path(__file__).parents[2] / "docs/how-to/upgrade.md"

SHOWN = """
ledger = "budget.db"
[datasets.survey]
source = "survey.csv"
budget = { epsilon = 10 }
columns.age = { type = "integer", minimum = 0, maximum = 99 }
[analysts.team-a]
datasets = ["survey"]
share = { epsilon = 1 }
verbs = ["median"]
largest_epsilon = "1/4"
"""

pytestmark = pytest.mark.filterwarnings("ignore:.*the old name is still read")


def lines_at_start(folder: Path, text: str, dataset: str, analyst: str) -> list[str]:
    """Return what a service of a description says before it answers anything."""
    (folder / "discreet.toml").write_text(text)
    declared = configuration(folder / "discreet.toml")
    for who in (None, analyst):
        open_described(declared, dataset, who)
    with Running(folder, "--readers", "1") as service:
        for _ in range(600):
            if "answering about" in service.log.read_text():
                break
            time.sleep(0.1)
        said = service.log.read_text().splitlines()
    return [line for line in said if not line.startswith("{")]


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder whose ledger is quick, also where much else is tested."""
    with TemporaryDirectory(dir=fast_place()) as name:
        yield Path(name)


def test_the_page_shows_what_it_says(quick: Path) -> None:
    [shown] = [
        block
        for block in re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.S)
        if "answering about survey" in block
    ]
    said = lines_at_start(quick, SHOWN, "survey", "team-a")
    address = r"127\.0\.0\.1:\d+"
    assert [re.sub(address, "HERE", line) for line in said] == [
        re.sub(address, "HERE", line) for line in shown.splitlines()
    ]


def test_a_file_with_all_old_keys_starts(quick: Path) -> None:
    """But a question of it which no version could answer."""
    text = OLD_TEXT.replace(", units = 2", "").replace('slot = "250ms"\n', "")
    said = lines_at_start(quick, text, "bare", "team-b")
    old = [line for line in said if line.endswith("the old name is still read")]
    assert len(old) == len({*old}) == 10  # once each, whatever the number of processes
    assert said[-1].startswith("answering about people, bare, named, lake, asked at ")
