"""Python lists: a median of a million floats in a list, against making them an array."""

from functools import partial

import numpy as np

from .grids import median_of
from .race import Contender, Watch, race
from .results import Row, Target, compared

ARRAY = "np.array(list)"


def lists(watch: Watch) -> Row:
    """Return the row of a median of 10^6 floats that come in a list."""
    data = np.random.default_rng(11).standard_normal(10**6) * 1e5
    listed = data.tolist()
    contenders = [
        Contender("discreet median, from a list", partial(median_of, listed)),
        Contender(ARRAY, lambda: partial(np.array, listed)),
        Contender("discreet median, from an array", partial(median_of, data)),
    ]
    return Row("median of a list of 10^6", compared(race(contenders, 21, watch), Target(4, ARRAY)))
