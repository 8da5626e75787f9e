"""A discreet.toml with all its keys has the digests that an early version gave it: they know a request again."""

import json

import pytest

from discreet.errors import InvalidDescription

from .made_by_3d1894d.record import HERE, TEXT, read, recorded

RECORDED = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))


def made_of(text: str) -> object:
    return json.loads(json.dumps(recorded(read(text))))


@pytest.mark.filterwarnings("ignore:.*it can never be paid")
def test_a_file_has_the_digests_that_were_recorded() -> None:
    assert made_of(TEXT) == RECORDED
    assert len(RECORDED["questions"]) == 9


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ('csv.delimiter = ";"', 'delimiter = ";"'),
        ('csv.names = ["n", "m"]', 'names = ["n", "m"]'),
        ('period = "year"', 'per = "year"'),
        ("max_epsilon =", "largest_epsilon ="),
        ('verb = "best_price"', 'verb = "price"'),
        ('"best_price"]', '"price"]'),
        ("listen =", 'slot = "250ms"\nlisten ='),
    ],
)
def test_a_word_of_before_is_unknown(new: str, old: str) -> None:
    assert TEXT.count(new) == 1
    with pytest.raises(InvalidDescription, match=r"there is no such key|it must be one of"):
        read(TEXT.replace(new, old))
