"""The listings of the sources run as they stand but for imports, and every answer in them is drawn exactly.

Their licences do not let us store them, so they are read from your own copies: DISCREET_SOURCES=FOLDER holds the
texts by the names below. The guide of OpenDP runs with our measurement in the place of its own.
"""

import os
import re
import sys
import types
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.study.opendp import to_opendp

from . import their_names

SHERPA = "1-sherpa-exponential-mechanism.txt"
ILVENTO = "2-ilvento-base2-exponential-mechanism.md"
OPENDP = "3-opendp-private-quantile.txt"
NEAR = "4-programming-dp-exponential-mechanism-zh.txt"
STATUSES = Path(__file__).parents[2] / "examples" / "marital_status.csv"

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        "DISCREET_SOURCES" not in os.environ,
        reason="needs your own copies of the sources: see the docstring of this file",
    ),
]


def lines(name: str, *ranges: tuple[int, int]) -> str:
    """Return the lines of a source from one number to another, both included."""
    path = Path(os.environ["DISCREET_SOURCES"], name)
    if not path.exists():
        pytest.skip(f"no copy of {name}")
    every = path.read_text(encoding="utf-8").split("\n")
    return "\n".join("\n".join(every[first - 1 : last]) for first, last in ranges)


def module(name: str, **names: Any) -> types.ModuleType:
    """Return a module of that name, to be imported by a listing."""
    made = types.ModuleType(name)
    vars(made).update(names)
    return made


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Return the names of a listing, in a folder of its own, with pictures that nobody sees."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.setattr(plt.style, "use", lambda name: None)  # the style was renamed since
    monkeypatch.setattr(plt, "show", plt.close)
    monkeypatch.chdir(tmp_path)
    imported: dict[str, dict[str, Any]] = {
        "shfl": {},
        "shfl.differential_privacy": {},
        "shfl.differential_privacy.mechanism": {
            "ExponentialMechanism": their_names.ExponentialMechanism
        },
        "shfl.private": {},
        "shfl.private.node": {"DataNode": their_names.DataNode},
        "gmpy2": {"mpfr": float, "mpz": int},
        "naive": {
            "naive_exp_mech": their_names.naive_exp_mech,
            "naive_laplace": their_names.naive_laplace,
        },
        "expmech": {"ExpMech": their_names.ExpMech, "LaplaceMech": their_names.LaplaceMech},
    }
    for name, names in imported.items():
        monkeypatch.setitem(sys.modules, name, module(name, **names))
    return {"__name__": "__main__"}


def float_of_one(value: Any) -> float:
    """Return a number as a float, also of an array that holds one: numpy refuses that since these listings."""
    return float(np.asarray(value).item())


def run(code: str, world: dict[str, Any]) -> None:
    """Run a listing; the warnings that it earns are its authors'."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "listing", "exec"), world)


def test_sherpa(world: dict[str, Any]) -> None:
    world["float"] = float_of_one
    pictures = (89, 103), (111, 128), (132, 132), (136, 163)
    run(lines(SHERPA, (62, 77), (81, 85), *pictures, (173, 184), (190, 198)), world)
    answers = world["result"]
    assert len(answers) == 10_000
    assert abs(np.mean(answers <= 1.0) - 0.373515) < 0.03
    assert abs(np.mean((answers > 1.0) & (answers <= 3.01)) - 0.594757) < 0.03
    run(lines(SHERPA, (212, 224), (228, 238)), world)
    losses = [2.276119, 1.121563, 0.535074, 0.284723, 0.186475]
    assert np.abs(world["mean_loss"][:5] - losses).max() < 0.06
    run(lines(SHERPA, (255, 262), (266, 282), (286, 296)), world)
    truths = [0.500031, 0.777321, 0.924151, 0.977025, 0.993308]
    assert np.abs(world["positives"][:5] - truths).max() < 0.01
    run(lines(SHERPA, (310, 317), (321, 333), (337, 348)), world)
    assert abs(np.mean(np.abs(world["result"] - 3.5) <= 1) - 0.393674) < 0.01


def test_ilvento(world: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    text = lines(ILVENTO, (1, 10_000))
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    np.random.seed(0)
    run(re.sub(r"^!.*$", "", code, flags=re.M), world)
    said = capsys.readouterr().out
    assert "x = 2980" in said
    assert "k: 1000" in said
    assert "epsilon =  1.3862943611198906" in said
    averages = [float(number) for number in re.findall(r"u1 average: +([\d.]+)", said)]
    assert 30 < averages[0] < 70, "Alice is not told: with her the average is near 50 too"
    assert averages[1] == 1.0, "at ε = 30 the other outcomes have a chance of 5e-14, not of none"
    assert len(world["b2_results"]) == len(world["naive_results"]) == 1000
    assert abs(np.mean(world["b2_results"]) - world["t"]) < 0.6


def test_near_and_abuah(world: dict[str, Any], tmp_path: Path) -> None:
    rows = STATUSES.read_text(encoding="utf-8").splitlines()[1:]
    text = "\n".join(["Marital Status", *rows])
    (tmp_path / "adult_with_pii.csv").write_text(text, encoding="utf-8")
    run(lines(NEAR, (37, 65)), world)
    theirs = world["exponential"]
    world["exponential"] = their_names.exponential
    run(lines(NEAR, (67, 70)), world)
    drawn = Counter(world["r"])
    assert 150 < drawn["Married-civ-spouse"] <= 200, "177.75 are expected"
    assert theirs(world["adult"]["Marital Status"], world["options"], world["score"], 1, 1)
    run(lines(NEAR, (113, 119)), world)
    data = world["adult"]["Marital Status"], world["options"], world["score"], 1, 1
    assert world["resport_noisy_max"](*data) in world["options"]
    noisy = Counter(their_names.report_noisy_max(*data) for _ in range(60))
    assert noisy["Married-civ-spouse"] > 45, "58.7 are expected"


def test_opendp(world: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    dp = pytest.importorskip("opendp.prelude")
    parts = (5, 6), (9, 19), (24, 33), (40, 49), (54, 54), (63, 67), (71, 71), (76, 79), (89, 89)
    run(lines(OPENDP, *parts, (93, 99), (104, 104)), world)
    assert world["t_median_scores"].map(d_in=1) == 7071

    theirs = dp.m.make_noisy_max

    def make_noisy_max(
        domain: Any, metric: Any, measure: Any, scale: float, negate: bool | None = None
    ) -> Any:
        if negate is None:  # a call of ours, by which OpenDP checks the space
            return theirs(domain, metric, measure, scale=scale)
        return to_opendp((domain, metric), measure, scale=scale, negate=negate)

    monkeypatch.setattr(dp.m, "make_noisy_max", make_noisy_max)
    run(lines(OPENDP, (40, 49), (63, 67)), world)
    assert world["m_select_score"].map(d_in=1) == 2.0
    assert 40 < world["noisy_index"] < 60
    run(lines(OPENDP, (76, 79), (89, 89)), world)
    assert -10 < world["postprocessor"](world["noisy_index"]) < 10
