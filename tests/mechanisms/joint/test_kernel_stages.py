"""Joint quantiles by the kernel: the states and masses of numpy, and no choice but those that balls tell."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.mechanisms.joint import place_slots
from discreet.mechanisms.joint.arithmetic import DoubleArithmetic
from discreet.mechanisms.joint.joint_quantiles import JointQuantiles
from discreet.mechanisms.joint.masses import Masses
from discreet.mechanisms.joint.tuple_law import Branch, JointLaw
from discreet.mechanisms.testing import ScriptedBits
from discreet.sampling import kernel
from discreet.sampling.categorical import PreparedWeights
from discreet.sampling.enclosures import FUNCTION_ERROR, HALF_ULP, lower, precision

from .test_joint_quantiles import law_of, quantiles

pytestmark = pytest.mark.skipif(kernel.active() is None, reason=f"no kernel: {kernel.load()}")

TIED = (1, 2, 2, 2, 5, 8, 8, 9, 9, 9, 9, 12, 20, 21, 22, 22)
APART = tuple(range(0, 300, 7))
Groups = list[tuple[int, int]] | None


def without_the_kernel(law: JointLaw) -> Masses:
    """Return the masses of a law in numpy."""
    doubles = DoubleArithmetic(law._step, law.cuts)
    doubles.kernel = lambda cuts: None  # type: ignore[method-assign]
    return Masses(law.cuts, doubles)


@given(
    st.integers(0, 300),
    st.sampled_from([5, 50, 10**6, 2**61]),
    st.lists(st.fractions(0, 1, max_denominator=97), min_size=1, max_size=6, unique=True),
    st.fractions(Fraction(1, 1000), 50, max_denominator=1000),
    st.sampled_from([1, 2, 10**5]),
    st.sampled_from([0, 3000, 2**23]),
    st.integers(0, 2**32 - 1),
)
# Windows that overlap, or are of all places, and begin later than what they are windows of.
@example(300, 10**6, [Fraction(1, 2), Fraction(5, 9)], Fraction(5), 1, 2**23, 1)
@example(300, 10**6, [Fraction(1, 2), Fraction(5, 9)], Fraction(5), 10**5, 0, 1)
def test_states_are_those_of_numpy(
    n: int, size: int, alphas: list[Fraction], eta: Fraction, coarse: int, most: int, seed: int
) -> None:
    """Also where points are tied, where windows leave some out or all, and where slots are not filled up."""
    rng = np.random.default_rng(seed)
    data = tuple(sorted((rng.integers(0, size, n) // coarse).tolist()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place_slots, "MOST_SLOTS", most)
        law = law_of(data, JointQuantiles(tuple(sorted(alphas)), size), eta)
    assert law.fast is not None
    assert law.fast._in_c is not None
    other = without_the_kernel(law)
    assert law.fast.units == other.units
    for one, two, error in zip(law.fast.stages, other.stages, law.fast.errors, strict=True):
        assert one.cuts.tolist() == two.cuts.tolist()
        assert one.offsets.tolist() == two.offsets.tolist()
        for mine, yours in zip(one[2:], two[2:], strict=True):
            # Both are within their bounds, but for what roundings to subnormal numbers take.
            assert np.all(np.abs(mine - yours) <= 2.1 * error * yours + 2.0**-980)
    mine, yours = law.fast._entries, other._entries
    assert np.all(np.abs(mine - yours) <= 2.1 * law.fast.errors[-1] * yours + 2.0**-980)


def groups_in_c(law: JointLaw, words: list[int]) -> Groups:
    """Return what the kernel draws by these words and many more of no meaning, None where one is open."""
    script = "".join(f"{word:064b}" for word in [*words, *[2**63 - 12345] * 40])
    assert law.fast is not None
    return law.fast.draw_in_c(ScriptedBits(script, width=64))[0]


def groups_in_balls(law: JointLaw, words: list[int]) -> Groups:
    script = "".join(f"{word:064b}" for word in [*words, *[2**63 - 12345] * 40])
    bits, fast = ScriptedBits(script, width=64), law.fast
    law.fast = None
    try:
        return law.groups(lambda branch: PreparedWeights(branch).draw(bits))
    finally:
        law.fast = fast


def beside_boundaries(law: JointLaw, choice: int) -> Iterator[list[int]]:
    """Yield words of which the last one, for that choice, is near a boundary between two alternatives."""
    words, rng = list[int](), np.random.default_rng(choice)
    found = list[list[int]]()

    def choose(branch: Branch) -> int:
        with precision(256):
            ends = list(accumulate(branch.balls()))
            shares = [int(lower(end / ends[-1] * arb(2) ** 64)) for end in ends]
        if len(words) == choice:
            inside = [word for word in shares if 2**50 < word < 2**64 - 2**50]
            steps = [sign * 2**k for k in (0, 6, 8, 10, 11, 12, 14, 20, 30) for sign in (1, -1)]
            found.extend([*words, word + step] for word in inside[::3] for step in steps)
        words.append(int(rng.integers(2**61, 2**63)))
        return PreparedWeights(branch).draw(ScriptedBits(f"{words[-1]:064b}" * 3, width=64))

    law.groups(choose)
    yield from found


def check_words(law: JointLaw, choice: int) -> set[bool]:
    """Compare the draws of words near boundaries with those of balls; return whether some were open or certain."""
    seen = set[bool]()
    for words in beside_boundaries(law, choice):
        found = groups_in_c(law, words)
        seen.add(found is None)
        assert found is None or found == groups_in_balls(law, words)
    return seen


@pytest.mark.parametrize("data", [TIED, APART], ids=["tied", "apart"])
@pytest.mark.parametrize("choice", [0, 1, 2, 3])
def test_words_beside_boundaries(data: tuple[int, ...], choice: int) -> None:
    """No choice is certain and wrong, however near its word is to a boundary."""
    law = law_of(data, quantiles(["1/5", "1/2", "3/5"], 400), Fraction(1, 5))
    assert check_words(law, choice) in ({True, False}, set())


def test_choices_without_slack_are_seen() -> None:
    """The words above are so near that a bound of 0 makes some choices wrong."""
    law: Any = law_of(APART, quantiles(["1/5", "1/2", "3/5"], 400), Fraction(1, 5))
    law.fast.errors = [-law.fast.arithmetic.error(0) - 2.0**-44] * len(law.fast.errors)
    with pytest.raises(AssertionError):
        check_words(law, 0)
    with pytest.raises(AssertionError):
        check_words(law, 1)


@pytest.mark.parametrize("data", [TIED, APART, (), (3,)], ids=str)
def test_draws_take_the_words_of_balls(data: tuple[int, ...]) -> None:
    """A word for each choice, and the next word is for what follows."""
    law = law_of(data, quantiles(["1/5", "1/2", "3/5", "1"], 400), Fraction(1, 5))
    rng = np.random.default_rng(len(data))
    for _ in range(30):
        script = "".join(map(str, rng.integers(0, 2, 64 * 40).tolist()))
        bits = [ScriptedBits(script, width=64) for _ in range(2)]
        drawn = law.draw(bits[0])
        law.fast, fast = None, law.fast
        assert drawn == law.draw(bits[1])
        law.fast = fast
        assert bits[0].word() == bits[1].word()


def test_what_weighs_too_little_is_open() -> None:
    """A total that is no larger than what is left out is no base of a choice."""
    law: Any = law_of(APART, quantiles(["1/5"], 400), Fraction(1, 5))
    assert groups_in_c(law, []) is not None
    law.fast._omission = 1.0
    assert groups_in_c(law, []) is None


def test_additions_are_those_of_the_proof() -> None:
    """Rows of 256, and their sums: of 1,000 records 2,001 places are within reach, which were 2,001 states."""
    law = law_of(tuple(range(0, 7000, 7)), quantiles(["1/3", "1/2"], 7000), Fraction(1, 10**4))
    doubles: Any = law.fast and law.fast.arithmetic
    assert doubles._chain == 256 + 2001 // 256 + 3


def test_small_exponents() -> None:
    """1 + x is as near to exp as is assumed of numpy's, at the largest x that counts as small."""
    x = DoubleArithmetic.NEAR_ZERO
    with precision(128):
        assert abs((1 + arb(x)) / arb(x).exp() - 1) + HALF_ULP < FUNCTION_ERROR / 4
        assert abs((1 + arb(4 * x)) / arb(4 * x).exp() - 1) > FUNCTION_ERROR / 16


def test_without_the_kernel_masses_are_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "active", lambda: None)
    law = law_of(TIED, quantiles(["1/2"], 400), Fraction(1, 5))
    assert law.fast is not None
    assert law.fast._in_c is None
    assert groups_in_c(law, []) is None


def test_cuts_too_large_for_the_kernel() -> None:
    """Steps of 1 / 10**14 of a record make cuts of more than 2**50."""
    law = law_of((1, 2), quantiles([str(Fraction(1, 10**15 + 1))], 4), Fraction(10**15))
    assert law.cuts.targets[-1] >= kernel.LARGEST_CUT
    assert law.fast is None or law.fast._in_c is None
