"""Answers on scripted bits are those that were recorded, for every verb, mechanism and engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from .engines import ENGINES
from .golden_answers import RECORDED, answered, from_memory, from_tables

GOLDEN: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))


def test_answers_from_memory_are_those_that_were_recorded() -> None:
    assert answered(from_memory()) == GOLDEN["memory"]


# Spark's jobs take a second each; test_engines.py has a few of each kind in every run.
SLOW = {"spark": [pytest.mark.proof]}


@pytest.mark.parametrize("engine", [pytest.param(e, marks=SLOW.get(e, [])) for e in ENGINES])
@pytest.mark.one_in(5)
def test_every_engine_gives_the_answers_that_were_recorded(engine: str, tmp_path: Path) -> None:
    assert answered(from_tables(engine, tmp_path)) == GOLDEN["table"]
