"""Low bits tell most answers."""

from discreet.study.attacks import floats, low_bits


def test_low_bits_tell_most_answers_and_every_answer_reaches_itself() -> None:
    told = low_bits.telling()
    assert 0.5 < len(told) / low_bits.TRIES < 0.9
    for k in (0, 1, 12345, floats.FINE // 3, floats.FINE - 2):
        for value in (0.0, 1.0, -7.5):
            for sign in (1, -1):
                assert low_bits.is_reachable(low_bits.unsafe_laplace(value, sign, k), value)
