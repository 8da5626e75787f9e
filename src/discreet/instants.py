"""Times with an offset, told apart by when they are."""

import datetime as dt


def instant(value: object) -> object:
    """Return a time with an offset in UTC, and anything else as it is.

    Python compares two times of one zone by their clocks, and holds one in an hour that clocks repeat unequal
    to all of other zones. In UTC, equal are those of the same instant.
    """
    if not isinstance(value, dt.datetime) or value.tzinfo is None or value.utcoffset() is None:
        return value
    try:
        return value.astimezone(dt.UTC)
    except OverflowError:  # a year that Python cannot write in UTC
        return value
