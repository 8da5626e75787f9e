"""The lost event is found by trying all uniforms near it."""

from discreet.study.attacks import floats, lost_event


def test_the_lost_event_is_found_by_trying_all_uniforms_near_it() -> None:
    for scores, chances in ((lost_event.SCORES, 0), (lost_event.NEIGHBOR, 2)):
        choose = floats.unsafe_choice(floats.unsafe_weights(scores, 1, shift=True))
        last = range(floats.FINE - 1000, floats.FINE)
        assert sum(choose(k) for k in last) == chances
