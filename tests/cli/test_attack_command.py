"""discreet attack: by name, and all of them."""

import json

import pytest

from discreet.attacks import ATTACKS
from discreet.cli import run


def test_attacks_by_name_and_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", "--list"]) == 0
    assert capsys.readouterr().out.split() == list(ATTACKS)
    assert run(["attack", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(ATTACKS)
    assert run(["attack", "lost_event"]) == 0
    assert "BROKEN" in capsys.readouterr().out
    assert run(["attack", "lost_event", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["broken"] is True


@pytest.mark.proof
def test_all_attacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack"]) == 0
    out = capsys.readouterr().out
    assert out.count("BROKEN") == out.count("STANDING") == len(ATTACKS)
    assert max(map(len, out.splitlines())) <= 80
    assert run(["attack", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(ATTACKS)
