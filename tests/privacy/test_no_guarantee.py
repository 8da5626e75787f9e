"""No guarantee promises nothing, whatever is asked of it."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from discreet.errors import InvalidArgument
from discreet.privacy.no_guarantee import NoGuarantee


def test_it_promises_nothing() -> None:
    nothing = NoGuarantee("the candidates were taken from the data")
    assert nothing.neighbors == "add_remove"
    for epsilon in (0, "1/2", 10**6):
        assert nothing.delta_at(epsilon) == Fraction(1)
    silent: Any = nothing
    answers = [silent.pure, silent.rho, silent.renyi(arb(1)), silent.ceiling(arb("0.5"))]
    assert answers == [None] * 4
    assert nothing.repeated(7) is nothing.group(3) is nothing
    assert nothing.under("replace_one") == NoGuarantee(nothing.reason, "replace_one")
    with pytest.raises(
        InvalidArgument, match="no epsilon holds at any delta: no privacy guarantee"
    ):
        nothing.approx("1e-6")


def test_public_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument):
        NoGuarantee("why", "some")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        NoGuarantee("why").delta_at(-1)
