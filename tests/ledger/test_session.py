"""A session is an account."""

from discreet.ledger import Ledger, Session


def test_a_session_is_an_account() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    assert ledger.spent("adult").answers == 0
    session: Session = ledger.session("adult")
    assert (session.dataset, session.analyst) == ("adult", None)
    import discreet

    release = discreet.select(
        {"a": 1, "b": 2}, sensitivity=1, epsilon="1/2", ledger=session, request="r"
    )
    again = discreet.select(
        {"a": 1, "b": 2}, sensitivity=1, epsilon="1/2", ledger=session, request="r"
    )
    assert release.value == again.value
    assert ledger.spent("adult").if_fixed_beforehand() == discreet.compose(release.guarantee)
