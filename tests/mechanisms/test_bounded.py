"""The mechanisms that state their worst case are those for which `worst_error` answers."""

import discreet
from discreet.errors import InvalidArgument
from discreet.mechanisms.bounded import BOUNDED
from discreet.mechanisms.mechanism_names import MECHANISMS


def test_a_worst_error_is_known_for_these_alone() -> None:
    known = []
    for name in MECHANISMS:
        try:
            discreet.worst_error(10, spread=1, epsilon=1, mechanism=name)
        except InvalidArgument:
            continue
        known.append(name)
    assert tuple(known) == BOUNDED
    assert "exponential" in BOUNDED
