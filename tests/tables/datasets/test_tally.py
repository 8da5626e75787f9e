"""The tally: what answers about a file without a ledger promise together."""

import json
import os
import stat
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet.cli.application import run_command
from discreet.errors import InvalidArgument
from discreet.tables.datasets import tally

ROWS = "name,city,age\n" + "SECRET,Bern,30\n" * 40
ASK = ["mode", "people.csv", "city", "--candidates", "Bern,Basel", "--epsilon"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(ROWS)
    return tmp_path


def kept() -> Path:
    path = tally.where()
    assert path is not None
    return Path(path)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return what a command says of the tally on stderr."""
    capsys.readouterr()
    assert run_command([*arguments]) == 0
    return [line for line in capsys.readouterr().err.splitlines() if "about this file" in line]


def test_answers_add_up_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, *ASK, "1/3") == []
    assert told(capsys, *ASK, "1/3") == [
        "2 answers about this file so far: ε = 2/3 together (add/remove one record)"
    ]
    (third,) = told(capsys, *ASK, "1/3", "--json")
    assert third == "3 answers about this file so far: ε = 1 together (add/remove one record)"
    assert sum(entry.total.epsilon for entry in tally.read()) == 1


def test_a_line_holds_public_facts_alone(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, *ASK, "1", "--where", "age = 30")
    told(capsys, "keys", "people.csv", "city", "--epsilon", "1", "--delta", "1e-8")
    text = kept().read_text()
    assert not any(word in text for word in ("SECRET", "Bern", "Basel", "age"))
    first, second = map(json.loads, filter(None, text.splitlines()))
    assert first.keys() == {"at", "verb", "epsilon", "delta", "neighbors", "unit", "files"}
    assert (first["verb"], first["epsilon"], second["delta"]) == ("mode", "1", "1/100000000")
    status = os.stat("people.csv")
    assert first["files"] == [[status.st_dev, status.st_ino, os.path.realpath("people.csv")]]
    assert stat.S_IMODE(kept().stat().st_mode) == 0o600


def test_each_relation_and_unit_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, *ASK, "1")
    lines = told(capsys, *ASK, "2", "--neighbors", "replace_one")
    assert lines == [
        "1 answer about this file so far: ε = 1 together (add/remove one record)",
        "1 answer about this file so far: ε = 2 together (replace one record)",
    ]
    assert len(told(capsys, *ASK, "1", "--privacy-unit", "name")) == 3


def test_above_ten_together_it_warns(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        told(capsys, *ASK, "5")
    *_, last = told(capsys, *ASK, "1/10")
    assert "more than ε = 10 together" in last
    assert "discreet describe" in last


def test_what_makes_no_entry(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    told(capsys, *ASK, "1", "--no-tally")
    with monkeypatch.context() as patched:
        patched.setenv(tally.NO_TALLY, "1")
        told(capsys, *ASK, "1")
    ledger = discreet.Ledger("budget.db")
    ledger.open("people", epsilon=3)
    charged = ["--ledger", "budget.db", "--dataset", "people"]
    told(capsys, *ASK, "1", *charged)
    told(capsys, *ASK, "1", *charged, "--dry-run")
    told(capsys, "describe", "people.csv", "--header")
    assert run_command([*ASK, "0"]) == 2
    assert not kept().exists()


def test_another_file_in_its_place_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, *ASK, "1")
    Path("new.csv").write_text(ROWS)
    os.replace("new.csv", "people.csv")
    assert told(capsys, *ASK, "1") == []
    os.symlink("people.csv", "link.csv")
    (line,) = told(capsys, ASK[0], "link.csv", *ASK[2:], "1")
    assert "2 answers about this file so far: ε = 2 " in line


def test_a_file_of_several_counts_each_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people2.csv").write_text(ROWS)
    told(capsys, *ASK, "1")
    (both,) = told(capsys, ASK[0], "people*.csv", *ASK[2:], "2")
    assert "2 answers about this file so far: ε = 3 " in both
    assert tally.add_up(tally.read()).popitem()[1].answers == 2


def is_broken(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tally one that cannot be kept."""
    place = kept()
    if how == "no home":
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.setenv("HOME", "relative")
        return
    if how == "no folder":
        monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
        return
    place.parent.mkdir(parents=True)
    if how == "link":
        Path("target").write_text("mine")
        place.symlink_to(Path("target").absolute())
    elif how == "pipe":
        os.mkfifo(place)
    elif how == "folder":
        place.mkdir()
    else:
        numbers = '"epsilon": "1e999999999", "delta": "0", "neighbors": "add_remove", "unit": null'
        entry = json.dumps(list(next(tally_place()))).encode()
        bad = f'{{"at": "", "verb": "", {numbers}, "files": ['.encode() + entry + b"]}\n"
        place.write_bytes(b"\xff\0" + entry + b"\n{\n[" * 9 + entry + b"[" * 9000 + b"\n" + bad)


def tally_place() -> Any:
    status = os.stat("people.csv")
    yield status.st_dev, status.st_ino, os.path.realpath("people.csv")


@pytest.mark.parametrize("how", ["no home", "no folder", "link", "pipe", "folder", "garbage"])
def test_a_tally_that_cannot_be_kept_fails_no_answer(
    how: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_broken(how, monkeypatch)
    assert told(capsys, *ASK, "1") == []
    lines = told(capsys, *ASK, "1")
    assert len(lines) == (how == "garbage")
    assert run_command(["tally"]) == 0
    if how == "link":
        assert Path("target").read_text() == "mine"


def test_a_pipe_has_no_file() -> None:
    asked = [sys.executable, "-m", "discreet", "mode", "-", *ASK[2:], "1"]
    subprocess.run(asked, input=ROWS, text=True, capture_output=True, check=True, timeout=100)
    assert not kept().exists()


def test_two_processes_lose_no_line() -> None:
    entry = tally.entry_of("mode", discreet.select([0], sensitivity=1, epsilon=1), tally_place())
    assert entry is not None
    program = (
        "import discreet; from discreet.tables.datasets import tally\n"
        "entry = tally.entry_of('mode', discreet.select([0], sensitivity=1, epsilon=1), [(1, 2, 'x' * 3000)])\n"
        "for _ in range(300): tally.append(entry)"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [one.wait(timeout=100) for one in running] == [0] * 3
    lines = [*filter(None, kept().read_bytes().splitlines())]
    assert len(lines) == 900
    assert all(json.loads(line)["files"][0][:2] == [1, 2] for line in lines)


def test_a_long_tally_takes_little_time() -> None:
    (place,) = tally_place()
    release = discreet.select([0], sensitivity=1, epsilon=1)
    other, entry = (tally.entry_of("mode", release, [one]) for one in ((1, 2, "other"), place))
    assert other is not None
    assert entry is not None
    tally.append(other)
    kept().write_bytes(kept().read_bytes() * 20_000)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        tally.append(entry)
        list(tally.read(place))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # 1 ms on an idle machine, and far more if all entries were read


def test_in_python_it_is_of_the_process_and_warns_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"city": ["Bern"] * 9})
    for data in ("people.csv", frame, Path("people.csv").absolute()):
        ask = partial(discreet.mode, data, "city", candidates=["Bern"], epsilon=6)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(4):
                ask()
        warned = [one for one in seen if "more than ε = 10 together" in str(one.message)]
        assert len(warned) == (not isinstance(data, Path))
    assert not kept().exists()


def test_a_profile_joins_it_in_python() -> None:
    """Of a path, a table in memory and a described table, each once; a ledger that pays keeps it out."""
    frame = pd.DataFrame({"city": ["Bern"] * 9, "age": range(9)})
    described = discreet.Dataset(
        frame.copy(), {"age": {"type": "integer", "minimum": 0, "maximum": 99}}
    )
    for data in ("people.csv", frame, described):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(2):
                discreet.profile(data, epsilon=6, delta="1e-8")
        warned = [one for one in seen if "more than ε = 10 together" in str(one.message)]
        assert len(warned) == (data is not described), data
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=20, delta="1e-6", delta_for="questions")
    paid = pd.DataFrame({"age": range(9)})
    discreet.profile(paid, epsilon=6, numbers=["age"], ledger=ledger.session("people"))
    assert not any(place[1] == id(paid) for place in tally._here)


def test_what_releases_nothing_is_not_noted_in_python() -> None:
    data = pd.DataFrame({"city": ["Bern"] * 9})
    terms: dict[str, Any] = {"candidates": ["Bern"], "epsilon": 6}
    discreet.simulate(discreet.mode, data, "city", **terms, size=9)
    discreet.distribution(discreet.mode, data, "city", **terms)
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=20)
    discreet.mode(data, "city", **terms, ledger=ledger.session("people"))
    with pytest.raises(InvalidArgument):
        discreet.mode(data, "city", candidates=[], epsilon=6)
    assert not any(place[1] == id(data) for place in tally._here)
    place = tally.place_in_memory(data)
    assert place is not None
    entry = tally.entry_of("mode", discreet.select([0], sensitivity=1, epsilon=1), [place])
    assert entry is not None
    tally.note_here(entry)
    assert tally._here[place].popitem()[1].epsilon == Fraction(1)
    del data
    assert place not in tally._here


def _entry(epsilon: Fraction) -> tally.Entry:
    kind = tally.PromiseKind("add_remove", None)
    return tally.Entry(((1, 2, "a.csv"),), "mode", kind, tally.Total(1, epsilon), "now")


def test_a_line_without_an_end_costs_no_other() -> None:
    tally.append(_entry(Fraction(1)))
    path = Path(tally.where() or "")
    for cut in (path.read_bytes()[:-1], path.read_bytes() + b'{"at": "n'):
        path.write_bytes(cut)
        before = len([*tally.read()])
        tally.append(_entry(Fraction(1)))
        assert len([*tally.read()]) == before + 1


def test_odd_fractions_add_up_in_no_time_and_never_to_less() -> None:
    odd = [Fraction(10**390 + i, 10**391 + 3 * i + 1) for i in range(2000)]
    begin = time.process_time()
    (total,) = tally.add_up(map(_entry, odd)).values()
    assert time.process_time() - begin < 2
    few = tally.add_up(map(_entry, odd[:20])).popitem()[1].epsilon
    assert sum(odd[:20]) <= few < sum(odd[:20]) + Fraction(20, 2**256)
    assert total.epsilon.denominator <= 2**256
    assert tally.add_up(map(_entry, [Fraction(1, 3)] * 3)).popitem()[1].epsilon == 1
