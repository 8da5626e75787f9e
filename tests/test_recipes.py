"""The programs of examples/recipes, each where its tool is installed."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import discreet

from .pages import ROOT

RECIPES = ROOT / "examples" / "recipes"
CITIES = ("Basel", "Bern", "Genève", "Lausanne", "Zürich")


def test_the_page_has_the_programs_as_they_are() -> None:
    page = (ROOT / "docs" / "how-to" / "recipes.md").read_text(encoding="utf-8")
    script = (RECIPES / "common_city.R").read_text(encoding="utf-8")
    assert script.partition("\n")[2] in page
    assert all(f"examples/recipes/{name}" in page for name in ("common_city.R", "spark_job.py"))


def test_ten_uses_take_ten_lines_each() -> None:
    page = (ROOT / "docs" / "how-to" / "recipes.md").read_text(encoding="utf-8")
    _, _, part = page.partition("## Ten uses, in at most ten lines each\n")
    uses = part.partition("\n## ")[0].split("\n### ")[1:]
    programs = [re.findall(r"^```python\n(.*?)^```", use, re.DOTALL | re.MULTILINE) for use in uses]
    lines = [sum(map(bool, program.splitlines())) for (program,) in programs]
    assert len(lines) == 10
    assert max(lines) <= 10


def test_a_run_that_is_repeated_costs_nothing(tmp_path: Path) -> None:
    daily_median = runpy.run_path(str(RECIPES / "daily_median.py"))["daily_median"]
    ledger = discreet.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1)
    asked = str(ROOT / "examples" / "people.csv"), str(tmp_path / "budget.db")
    assert daily_median("monday", *asked) == daily_median("monday", *asked)
    daily_median("tuesday", *asked)
    assert len([event for event in ledger.history() if event.kind == "charged"]) == 2


def test_r_asks_by_reticulate() -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    program = [shutil.which("Rscript") or "", str(RECIPES / "common_city.R")]
    has_package = [program[0], "-e", "quit(status = !requireNamespace('reticulate'))"]
    if subprocess.run(has_package, capture_output=True, check=False).returncode:
        pytest.skip("R's package reticulate is not installed")
    done = subprocess.run(
        [*program, str(ROOT / "examples" / "people.csv")],
        capture_output=True, text=True, check=True,
        env={"RETICULATE_PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout.split()[0] in CITIES


def test_a_job_of_spark_is_answered_once(tmp_path: Path) -> None:
    from .engines import spark

    session = spark()
    main = runpy.run_path(str(RECIPES / "spark_job.py"))["main"]
    pq.write_table(csv.read_csv(ROOT / "examples" / "people.csv"), tmp_path / "people.parquet")
    discreet.Ledger(tmp_path / "budget.db").open("people", epsilon=1)
    asked = str(tmp_path / "people.parquet"), str(tmp_path / "budget.db")
    assert session is not None
    assert main(*asked) == main(*asked) in CITIES
