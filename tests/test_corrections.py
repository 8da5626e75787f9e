"""Corrections of other people's texts are evidence: quoted, placed, refuted by a program, and told in full.

`DISCREET_SOURCES=FOLDER` compares the quotations with your own copies: the texts by their names in
corrections.toml, and repositories as FOLDER/OWNER/NAME, checked out at the commits that stand there.
"""

import hashlib
import importlib.metadata
import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.sampling.enclosures import precision
from discreet.sampling.geometric import GeometricNoise

from .reproductions.evidence import BEGIN, CORRECTIONS, END, FOLDER, PAGES, rendered
from .reproductions.table import KNOWN

IDS = [row["id"] for row in CORRECTIONS]
GRADES = {"wrong", "loose", "slip"}
REPORTS = (FOLDER / "upstream_reports.md").read_text(encoding="utf-8")
SOURCES = os.environ.get("DISCREET_SOURCES")
NO_COPY = "needs your own copy of the source: see the docstring of this file"


def parts_of(page: str) -> dict[str, str]:
    """Return the parts of a page by their headings."""
    heads = re.split(r"^## (.+)$", page, flags=re.M)
    return dict(zip(heads[1::2], heads[2::2], strict=True))


@pytest.mark.parametrize("row", CORRECTIONS, ids=IDS)
def test_a_correction_is_whole(row: dict[str, Any]) -> None:
    assert row["grade"] in GRADES
    assert 5 <= len(row["quotation"]) <= 60, "a short quotation"
    assert row["at"] > 0
    is_program = "package" in row or "repository" in row
    assert is_program == ("line" in row)
    assert ("repository" in row) == ("commit" in row)
    assert len(row.get("commit", "0" * 40)) == 40
    assert len(row.get("line", "0" * 64)) == 64
    assert ("claimed" in row) == ("true" in row) == (row["grade"] != "slip")
    if "claimed" in row:
        claimed, true = (float(row[key].replace("infinite", "inf")) for key in ("claimed", "true"))
        assert (claimed < true) == (row["grade"] == "wrong")


@pytest.mark.parametrize("row", CORRECTIONS, ids=IDS)
def test_a_program_of_the_page_refutes_it_and_a_text_tells_its_authors(row: dict[str, Any]) -> None:
    for page in PAGES.values():
        named = [
            text
            for head, text in parts_of(page.read_text(encoding="utf-8")).items()
            if row["section"] in head
        ]
        assert len(named) == 1
        assert "```python" in named[0]
    assert row["report"] in parts_of(REPORTS)


def test_every_text_for_authors_is_of_a_correction() -> None:
    assert {*parts_of(REPORTS)} == {row["report"] for row in CORRECTIONS}


@pytest.mark.parametrize("language", PAGES)
def test_the_tables_are_those_of_the_file(language: str) -> None:
    page = PAGES[language].read_text(encoding="utf-8")
    table = page.partition(BEGIN)[2].partition(END)[0].strip()
    assert table == rendered(language).strip(), "python -m tests.reproductions.evidence writes it"


def test_epsilons_are_those_of_the_reproductions() -> None:
    """What is recomputed there without the library is what is graded here."""
    true = {number["id"]: number for number in KNOWN["numbers"]}
    graded = {row["id"]: row for row in CORRECTIONS}
    for ours, theirs in {
        "sherpa.answers": "sherpa.queries",
        "sherpa.response": "sherpa.code_charge",
        "sherpa.laplace": "sherpa.laplace_charge",
    }.items():
        assert graded[ours]["true"] == true[theirs]["ours"][0]
        assert graded[ours]["claimed"] == true[theirs]["theirs"][0]


def test_the_picture_shows_every_epsilon_that_is_finite() -> None:
    page = PAGES[""].read_text(encoding="utf-8")
    shown = {
        (float(a), float(b)) for a, b in re.findall(r'": \(([\d._]+), ([\d._]+)\),$', page, re.M)
    }
    graded = {
        (float(row["claimed"]), float(row["true"]))
        for row in CORRECTIONS
        if row.get("true", "infinite") != "infinite"
    }
    assert shown == graded


@pytest.mark.parametrize("row", CORRECTIONS, ids=IDS)
def test_the_quotation_is_in_the_source(row: dict[str, Any]) -> None:
    """In the reader's own copy, or in the package that is installed."""
    if "package" in row:
        name, version = row["package"].split()
        if importlib.metadata.version(name) != version:
            pytest.skip(f"{name} is here in another version than {version}")
        path = Path(str(importlib.metadata.distribution(name).locate_file(row["file"])))
    elif SOURCES is None:
        pytest.skip(NO_COPY)
    else:
        path = Path(SOURCES, row.get("repository", ""), row["file"])
        if not path.exists():
            pytest.skip(NO_COPY)
    line = path.read_text(encoding="utf-8").split("\n")[row["at"] - 1].strip()
    assert row["quotation"] in line
    if "line" in row:
        assert hashlib.sha256(line.encode()).hexdigest() == row["line"]


COUNTED = """
from dp_accounting import dp_event, rdp
event = dp_event.ExponentialMechanismDpEvent(1.0)
print(rdp.RdpAccountant().compose(dp_event.SelfComposedDpEvent(event, 100)).get_epsilon(1e-6))
one_by_one = rdp.RdpAccountant()
for _ in range(100):
    one_by_one.compose(event)
print(one_by_one.get_epsilon(1e-6))
"""


def test_the_accountant_forgets_the_count() -> None:
    (row,) = [row for row in CORRECTIONS if row["id"] == "dp_accounting.exponential"]
    folder = Path(SOURCES or "", row["repository"], "python", "dp_accounting")
    if SOURCES is None or not folder.exists():
        pytest.skip(NO_COPY)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], env=environment, capture_output=True, text=True, check=True
    )
    claimed, true = map(float, done.stdout.split())
    assert (f"{claimed:.4f}", f"{true:.4f}") == (row["claimed"], row["true"])


def opendp_counts() -> tuple[Any, Any]:
    """OpenDP, and its domain of counts by key; skips without it."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    return dp, dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))


def test_the_delta_of_stability_histograms_is_that_of_a_key_of_one_record() -> None:
    """Its chance is P(1 + Z >= T), and OpenDP 0.16.0 claims P(1 + Z > T)."""
    dp, counts = opendp_counts()
    space = counts, dp.l01inf_distance(dp.absolute_distance(T=int))
    for scale, threshold in ((1.0, 5), (2.0, 28)):
        release = dp.m.make_laplace_threshold(*space, scale=scale, threshold=threshold)
        noise = GeometricNoise(Fraction(1 / scale))
        with precision(64):
            true, claimed = noise.above(threshold - 2), noise.above(threshold - 1)
        assert float(claimed.mid()) == pytest.approx(release.map((1, 1, 1))[1], rel=1e-6)
        assert float(true.mid() / claimed.mid()) == pytest.approx(math.exp(1 / scale))


def test_the_delta_of_gaussian_thresholds_is_too_small_too() -> None:
    """OpenDP 0.16.0 claims P(N > T - 1) of the continuous noise N, and releases where 1 + Z >= T."""
    dp, counts = opendp_counts()
    space = counts, dp.l02inf_distance(dp.absolute_distance(T=int))
    for scale, threshold in ((1.0, 4), (2.0, 10)):
        release = dp.m.make_gaussian_threshold(*space, scale=scale, threshold=threshold)
        weights = [math.exp(-((z / scale) ** 2) / 2) for z in range(-90, 91)]
        true = sum(weights[90 + threshold - 1 :]) / sum(weights)
        claimed = math.erfc((threshold - 1) / scale / math.sqrt(2)) / 2
        assert release.map((1, 1, 1))[1] == pytest.approx(claimed, rel=1e-4)
        assert true > 2 * claimed
