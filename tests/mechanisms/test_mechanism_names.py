"""The registry of mechanisms: every name leads to its class, and to no other."""

import pytest

from discreet.errors import UnknownName
from discreet.mechanisms.mechanism_names import (
    MECHANISMS,
    read_mechanism,
    read_options,
    with_defaults,
)


def test_names_are_those_of_the_classes() -> None:
    assert list(MECHANISMS) == ["exponential", "base2", "permute_and_flip", "noisy_max"]
    assert len(MECHANISMS) == len({*MECHANISMS.values()}) == 4
    for name, kind in MECHANISMS.items():
        assert name in MECHANISMS
        assert kind.__module__ == f"discreet.mechanisms.{name}"
        assert with_defaults(kind).name.partition("(")[0] == name
        assert with_defaults(kind) is with_defaults(kind)
        assert read_mechanism(name) is with_defaults(kind)
        assert read_mechanism(kind()) == kind()
    assert "peeling" not in MECHANISMS
    with pytest.raises(KeyError):
        MECHANISMS["peeling"]


def test_a_class_and_an_unknown_name_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"Exponential\(\), with brackets"):
        read_mechanism(MECHANISMS["exponential"])  # type: ignore[arg-type]
    with pytest.raises(
        UnknownName, match="must be one of exponential, base2, permute_and_flip, noisy_max"
    ):
        read_mechanism("exponentail")


def test_options_are_those_of_the_mechanism() -> None:
    assert read_options("noisy_max", ["noise=gumbel"]).name == "noisy_max(gumbel)"
    with pytest.raises(UnknownName, match="has no options"):
        read_options("permute_and_flip", ["noise=gumbel"])
