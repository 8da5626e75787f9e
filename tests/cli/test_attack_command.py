"""discreet attack: by name, and all of them."""

import json
import warnings

import pytest

from discreet.cli import run
from discreet.study.attacks import ATTACKS


def test_attacks_by_name_and_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", "--list"]) == 0
    assert capsys.readouterr().out.split() == list(ATTACKS)
    assert run(["attack", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(ATTACKS)
    assert run(["attack", "lost_event"]) == 0
    assert "BROKEN" in capsys.readouterr().out
    assert run(["attack", "lost_event", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["broken"] is True


def test_an_attack_at_a_large_epsilon_warns_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert run(["attack", "truncation"]) == 0
    assert "(ε = 30)" in capsys.readouterr().out
    assert not warned


@pytest.mark.proof
def test_all_attacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack"]) == 0
    out = capsys.readouterr().out
    assert out.count("BROKEN") == out.count("STANDING") == len(ATTACKS)
    assert max(map(len, out.splitlines())) <= 80
    assert run(["attack", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(ATTACKS)
