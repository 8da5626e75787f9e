"""discreet median and quantile: levels, methods, and a delta."""

import json
from pathlib import Path

import pytest

from discreet.cli import run


def test_medians_and_quantiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ages.csv"
    file.write_text("age\n" + "37\n" * 200 + "90\n" * 60 + "unknown\n\n" * 90)
    grid = ["age", "--lo", "0", "--hi", "120", "--epsilon", "1"]
    assert run(["median", str(file), *grid, "--step", "0.5"]) == 0
    assert run(["quantile", str(file), *grid[:-1], "20", "--alpha", "0.95", "--json"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == "37.0" or first == "37"
    assert json.loads(last)["value"] == 90
    assert run(["quantiles", str(file), *grid, "--alphas", "0.1, 0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == [37, 37]
    assert run(["median", str(file), *grid, "--step", "0.7"]) == 2
    assert "whole number of steps" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["recursive", "joint", "independent"])
def test_quantiles_by_method_and_with_a_delta(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ages.csv"
    file.write_text("age\n" + "37\n" * 2000 + "90\n" * 600)
    asked = ["quantiles", str(file), "age", "--lo", "0", "--hi", "120", "--epsilon", "1",
             "--alphas", "0.2,0.4", "--method", method, "--json"]  # fmt: skip
    assert run(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["value"] == [37, 37]
    assert told["mechanism"] == ("joint_quantiles" if method == "joint" else "exponential")
    assert run([*asked, "--delta", "1e-6"]) == (2 if method == "joint" else 0)
    out, err = capsys.readouterr()
    if method == "joint":
        assert "leave it out" in err
        return
    guarantee = json.loads(out)["guarantee"]
    assert (guarantee["epsilon"], guarantee["delta"]) == ("1", "1/1000000")
    assert run([*asked, "--delta", "2"]) == run([*asked, "--method", "other"]) == 2
