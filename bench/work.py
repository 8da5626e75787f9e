"""How many random bits our own releases read: unlike times, the same on every machine."""

from collections.abc import Callable

from .race import Run


def bits_per_draw(prepare: Callable[[], Run], draws: int = 1) -> float | None:
    """Return the bits read for each of the draws that one call makes; none if the call fails."""
    try:
        from discreet.mechanisms.testing import counted_work

        run = prepare()
        with counted_work() as work:
            run()
    except Exception:  # the race has reported it
        return None
    return 64 * work.words / draws
