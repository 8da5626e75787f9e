"""The verbs of a session are the public ones, and each is a method of its name."""

import discreet
from discreet.ledger import paid_verbs


def test_a_session_has_each_of_these_verbs_as_a_method_and_no_other() -> None:
    verbs = {name for name, verb in vars(paid_verbs).items() if callable(verb)}
    methods = {name for name in vars(discreet.Session) if name in discreet.__all__}
    assert verbs == methods - {"quote"}  # which asks a verb for its price
    for name in verbs:
        assert getattr(discreet.Session, name) is getattr(paid_verbs, name)
        assert getattr(discreet, name) is getattr(paid_verbs, name)
