"""Those we compare with, each tuned to the very law that we draw from at sensitivity 1, epsilon 1.

Every function imports its peer itself, so that one that is not there fails alone.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .race import Run

Array = NDArray[Any]

SCALE = 2.0
"""OpenDP's scale of noise where one record moves every score by at most 1, either way: epsilon = 1."""

DTYPES = {"f": "f64", "i": "i64"}


def numpy_one_liner(scores: Array, size: int | None = None) -> Run:
    """Return the softmax and choice that everyone writes. Unsafe: rounded, and not cryptographic."""
    rng = np.random.default_rng()

    def run() -> object:
        weights = np.exp((scores - scores.max()) / SCALE)
        return rng.choice(len(scores), size=size, p=weights / weights.sum())

    return run


def numpy_rows(scores: Array) -> Run:
    """Return the softmax by row and one choice for each row. Unsafe, as `numpy_one_liner`."""
    rng = np.random.default_rng()

    def run() -> object:
        weights = np.exp((scores - scores.max(axis=1, keepdims=True)) / SCALE)
        weights /= weights.sum(axis=1, keepdims=True)
        return [rng.choice(scores.shape[1], p=row) for row in weights]

    return run


def opendp_exponential(scores: Array, scale: float = SCALE) -> Run:
    """Return one draw of OpenDP's exponential mechanism: report noisy max with Gumbel noise."""
    import opendp.prelude as dp

    return partial(_noisy_max(dp, scores, dp.zero_concentrated_divergence(), scale), scores)


def opendp_permute_and_flip(scores: Array) -> Run:
    """Return one draw of OpenDP's permute-and-flip: report noisy max with exponential noise."""
    import opendp.prelude as dp

    return partial(_noisy_max(dp, scores, dp.max_divergence(), SCALE), scores)


def opendp_mode(codes: Array, categories: int) -> Run:
    """Return OpenDP's count by categories and its exponential mechanism on the counts.

    Its types do not let the two be chained (the count's metric is L1, the selection's is L-infinity).
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
    count = dp.t.make_count_by_categories(*space, list(range(categories)), null_category=False)
    counts = np.zeros(categories, dtype=np.int64)
    select = _noisy_max(dp, counts, dp.zero_concentrated_divergence(), 1.0)
    return lambda: select(count(codes))


def diffprivlib_exponential(scores: Array) -> Run:
    """Return one draw of diffprivlib's exponential mechanism, which takes a list."""
    import diffprivlib  # its parts can be imported even where the whole fails, but only the second time

    mechanism, utility = diffprivlib.mechanisms.Exponential, scores.tolist()
    return lambda: mechanism(epsilon=1, sensitivity=1, utility=utility).randomise()


def opendp_median(data: Array, highest: int, step: int) -> Run:
    """Return OpenDP's private quantile, for a record more or less: epsilon = 1."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    candidates = [float(point) for point in range(0, highest + 1, step)]
    measure = dp.max_divergence()
    median = dp.m.make_private_quantile(
        *space, measure, candidates=candidates, alpha=0.5, scale=1.0
    )
    return partial(median, data.tolist())


def diffprivlib_median(data: Array, highest: int) -> Run:
    """Return diffprivlib's median, by the exponential mechanism on the intervals between records."""
    import diffprivlib.mechanisms  # imported first: the tools may fail with the models
    from diffprivlib.tools import quantile

    assert diffprivlib.mechanisms
    return partial(quantile, data, 0.5, epsilon=1, bounds=(0, highest))


def _noisy_max(dp: Any, scores: Array, measure: Any, scale: float) -> Any:
    """Return OpenDP's selection for scores of this type."""
    dp.enable_features("contrib")
    dtype = DTYPES[scores.dtype.kind]
    atoms = dp.atom_domain(T=dtype, nan=False) if dtype == "f64" else dp.atom_domain(T=dtype)
    return dp.m.make_noisy_max(
        dp.vector_domain(atoms), dp.linf_distance(T=dtype), measure, scale=scale
    )
