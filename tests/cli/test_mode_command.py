"""discreet mode: an answer, its guarantee, and every mechanism by name."""

import pytest

from discreet.cli import run
from discreet.cli.releasing import UNDESCRIBED_TEXT

from .test_application import MODE, STATUS

RECORDS_FEWER = (
    "in 95 of 100 answers the answer has at most 3 records fewer than the most common one"
)


def test_an_answer_and_its_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MODE, "--candidates", STATUS, "--epsilon", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "Married-civ-spouse\n"
    assert (
        err
        == f"{UNDESCRIBED_TEXT}\nε = 1 (add/remove one record), exponential mechanism\n{RECORDS_FEWER}\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mechanism", "base2"],
        ["--mechanism", "permute_and_flip"],
        ["--mechanism", "noisy_max", "--mechanism-option", "noise=gumbel"],
        ["--mechanism", "noisy_max", "--mechanism-option", "noise=exponential"],
        ["--mechanism", "base2", "--mechanism-option", "granularity=0.5"],
        ["--mechanism-option", "base_measure=1,1,1/2"],
    ],
)
def test_every_mechanism_has_a_name(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*MODE, "--candidates", STATUS, "--epsilon", "1", *arguments]) == 0
    assert capsys.readouterr().out.startswith("Married-civ-spouse\n")
