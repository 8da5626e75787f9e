"""Proofs by enumeration, shipped for your own mechanisms too.

Feed every string of bits through a draw and count. The share of strings that lead to an outcome is a lower bound on
its probability. Together with the undecided strings, it is an upper bound. This is a proof for the instance at
hand, not a statistic.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..base.arguments import read_sequence
from ..base.digests import digest
from ..base.numbers import count
from ..errors import InvalidArgument, InvalidScores, OutOfBits, preview
from ..privacy.guarantees import BoundedRange, Guarantee
from ..privacy.sensitivity import Sensitivity, sensitivity_of
from ..sampling import categorical, falling_runs, kernel, short_lists
from ..sampling.bits import Bits, SystemBits
from ..sampling.categorical import Categorical
from ..sampling.enclosures import DyadicRate, NaturalRate, Rate, ball, lower, precision, upper
from ..sampling.kernel import Kernel
from ..sampling.vectors import Vector, read_vector
from . import read_mechanism
from .contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    excess,
    identity_of,
    read_parameter,
)
from .permute_and_flip import OneOfTheHeads

_NARROW = arb(2) ** -100
"""The largest radius of an informative ball, and the tolerance of a certified comparison."""

_DEEPEST = 64

_OPEN = Fraction(1, 4)
"""Largest share of undecided strings with which an enumeration says something."""


class ScriptedBits:
    """Words from a script, first bit first. The end of the script raises `OutOfBits`.

    Args:
        script: zeros and ones, as text or numbers.
        width: bits per word. With 1, a draw can stop at any bit.
    """

    def __init__(self, script: Iterable[str | int], *, width: int = 1) -> None:
        self.width = count(width, "width")
        bits = [
            str(bit) for bit in (script if type(script) is str else read_sequence(script, "script"))
        ]
        if not set(bits) <= {"0", "1"}:
            raise InvalidArgument("a script is of zeros and ones")
        self._script = [int(bit) for bit in bits]
        self.read = 0

    def word(self) -> int:
        """Return the next word of the script."""
        word = self._script[self.read : self.read + self.width]
        if len(word) < self.width:
            raise OutOfBits(f"the script of {len(self._script)} bits came to its end")
        self.read += self.width
        return int("".join(map(str, word)), 2)

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next `n` words of the script."""
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


class SeededBits:
    """Words of 64 bits that are the same every time: SHA-256 of a seed and a counter. Never for a release.

    Args:
        seed: selects the words.
    """

    width = 64

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self.read = 0

    def word(self) -> int:
        """Return the next word."""
        digest = sha256(f"{self._seed}:{self.read}".encode()).digest()
        self.read += self.width
        return int.from_bytes(digest[:8], "little")

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next `n` words."""
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class BitTree:
    """The outcomes of a draw on all bit strings up to one length.

    Attributes:
        masses: the share of strings that lead to an outcome for any continuation, by outcome.
        undecided: the share of strings that lead to no outcome yet.
    """

    masses: dict[Hashable, Fraction]
    undecided: Fraction

    def admits(self, outcome: Hashable, probability: arb) -> bool:
        """Return whether mass <= probability <= mass + undecided can be true of a ball."""
        mass = self.masses.get(outcome, Fraction(0))
        return mass <= upper(probability) and lower(probability) <= mass + self.undecided


def bit_tree(draw: Callable[[Bits], Hashable], depth: int) -> BitTree:
    """Return the outcomes of a draw on all bit strings of length `depth`.

    If the beginning of a string already decides the draw, the string is not run again. So sharp draws can be
    enumerated to many more bits than 2**depth runs would allow.
    """
    if not callable(draw):
        raise InvalidArgument(f"draw must be a function of bits, got {preview(draw)}")
    depth = count(depth, "depth", most=_DEEPEST)
    masses: dict[Hashable, Fraction] = {}
    open_share = Fraction(0)
    open_strings = [""]
    while open_strings:
        string = open_strings.pop()
        bits = ScriptedBits(string)
        try:
            outcome = draw(bits)
        except OutOfBits:
            if len(string) < depth:
                open_strings += [string + "0", string + "1"]
            else:
                open_share += Fraction(1, 2**depth)
        else:
            if bits.read != len(string):
                raise AssertionError(
                    "the draw is not a function of its bits: it read fewer the second time"
                )
            masses[outcome] = masses.get(outcome, Fraction(0)) + Fraction(1, 2 ** len(string))
    return BitTree(masses, open_share)


@dataclass(slots=True)
class Work:
    """The work of a release.

    Attributes:
        words: words of 64 bits read.
        functions: exponentials and logarithms taken in doubles.
        passes: how often arrays of gaps were computed, over a block of scores or all of them.
        balls: weights enclosed in balls, because doubles left a doubt.
    """

    words: int = 0
    functions: int = 0
    passes: int = 0
    balls: int = 0


def _one(*_: object) -> int:
    """Return that a call is one piece of work."""
    return 1


def _count_numbers(_: Kernel, numbers: NDArray[Any], *__: object) -> int:
    """Return how many numbers the kernel is given."""
    return len(numbers)


def _count_few(numbers: Any, *_: object) -> int:
    """Return how many numbers there are, whatever they are in."""
    return int(np.size(numbers))


def _count_logarithms(*arguments: Any) -> int:
    """Return how many logarithms a race takes: two at both ends of the cells of those that are read on."""
    return 4 * len(arguments[5])


def _all_numbers(_: Kernel, rows: NDArray[Any], *__: object) -> int:
    """Return how many numbers are in the rows that the kernel is given."""
    return rows.size


def _blocks(_: Kernel, numbers: NDArray[Any], block: int, __: float) -> int:
    """Return in how many blocks the kernel works on them."""
    return -(-len(numbers) // block)


def _in_rounds(
    _: Kernel, __: object, ___: float, masses: Any, block: int, words: Any, *____: object
) -> int:
    """Return how many weights the rounds of a call compute: of all blocks, and twice of the numbers in one."""
    return len(words) // 2 * (len(masses[0]) + 2 * block)


def _passes_of_rounds(*arguments: Any) -> int:
    """Return how many times the rounds of a call weigh something to draw from it: for each word once."""
    return len(arguments[5])


def _asked_words(_: Bits, n: int) -> int:
    """Return how many words a call reads."""
    return n


def _adding(work: Work, attribute: str, size: Callable[..., int]) -> Callable[..., None]:
    """Return a function that adds the size of the work of a call to a count."""

    def add(*args: object) -> None:
        setattr(work, attribute, getattr(work, attribute) + size(*args))

    return add


def _functions_of_settle() -> Iterator[tuple[Any, str, Callable[..., int]]]:
    """Yield the functions of settle.c that take exponentials or logarithms, where they are, and how many."""
    fast = kernel.active()
    if fast and fast.settle:
        yield fast, "settle", _count_few
    if fast and fast.module:
        yield fast.module, "first_arrivals", _count_logarithms


@contextmanager
def counted_work() -> Iterator[Work]:
    """Count the work inside the block. Don't use it with threads, because it patches numpy. Draws start none."""
    work = Work()

    def counting(place: object, name: str, note: Callable[..., None]) -> Any:
        plain = getattr(place, name)

        def count_call(*args: object, **kwargs: object) -> Any:
            note(*args)
            return plain(*args, **kwargs)

        return patch.object(place, name, count_call)

    with ExitStack() as stack, patch.object(categorical, "threads", return_value=1):
        for place, name, attribute, size in (
            (SystemBits, "word", "words", _one),
            (SystemBits, "words", "words", _asked_words),
            (np, "exp", "functions", np.size),
            (short_lists, "exp", "functions", _one),
            (falling_runs, "replace_by_exp", "functions", _count_few),
            (np, "log", "functions", np.size),
            (Vector, "gaps", "passes", _one),
            (Kernel, "weights", "functions", _count_numbers),
            (Kernel, "running_sums", "functions", _count_numbers),
            (Kernel, "running_sums", "passes", _one),
            (Kernel, "block_sums", "functions", _count_numbers),
            (Kernel, "block_sums", "passes", _blocks),
            (Kernel, "row_sums", "functions", _all_numbers),
            (Kernel, "falling_sums", "functions", _count_numbers),
            (Kernel, "rounds", "functions", _in_rounds),
            (Kernel, "rounds", "passes", _passes_of_rounds),
            (NaturalRate, "decay", "balls", _one),
            (DyadicRate, "decay", "balls", _one),
        ):
            stack.enter_context(counting(place, name, _adding(work, attribute, size)))
        for module, function, count_size in _functions_of_settle():
            note = _adding(work, "functions", count_size)
            stack.enter_context(counting(module, function, note))
        yield work


def check_mechanism(
    mechanism: str | Mechanism,
    *,
    epsilon: object = 1,
    rho: object = None,
    scale: object = None,
    depth: int = 12,
) -> None:
    """Prove a mechanism on small instances, or raise an AssertionError that names the failure.

    It checks that the mechanism rejects scores that are not finite, and that its stated distribution sums to one.
    By `bit_tree`, it checks that single draws and batches follow the stated distribution. The guarantee must be at
    most the requested epsilon, rho or scale, under both neighbouring relations and for groups. A ledger must be
    able to identify the mechanism, and the stated rates must be those of the distribution. For every pair of
    neighbouring score vectors over a small universe, monotonic and not, the guarantee must hold for the stated
    distribution. A check that could not fail counts as failed, so balls must be narrow and enough bit strings
    decided. Pass epsilon=None for a mechanism with its own eta.

    Args:
        mechanism: a mechanism, or the name of one of ours.
        epsilon: how much privacy to request. None skips this check.
        rho: the rho to request as well. By default 1/2, if there is an epsilon and the mechanism supports a rho.
        scale: the scale of noise to request as well. By default 2, under the same conditions.
        depth: bits to enumerate. If too much is undecided, 4 more are used.
    """
    mechanism = read_mechanism(mechanism)
    depth = count(depth, "depth", most=_DEEPEST)
    digest(identity_of(mechanism))  # its description for a ledger can be serialized
    numbers = {"epsilon": epsilon, "rho": rho, "scale": scale}
    parameters = [read_parameter(**{**_NOTHING, kind: value}) for kind, value in numbers.items()]
    for parameter in filter(None, parameters):
        _check_calibrations(mechanism, parameter, depth)
    if parameters[0] is not None:
        for other in (p for p, mine in zip(_OTHERS, parameters[1:], strict=True) if mine is None):
            if _takes(mechanism, other):
                _check_calibrations(mechanism, other, depth)
    if not any(parameters):
        _check_calibrations(mechanism, None, depth)


_NOTHING: dict[str, object] = {"epsilon": None, "rho": None, "scale": None}

_OTHERS = (PrivacyParameter("rho", Fraction(1, 2)), PrivacyParameter("scale", Fraction(2)))
"""What a mechanism is asked for besides an epsilon."""


def _takes(mechanism: Mechanism, parameter: PrivacyParameter) -> bool:
    """Return whether a mechanism takes a privacy parameter of that kind; one that rejects makes no promise."""
    try:
        mechanism.calibrate(sensitivity_of(1, "add_remove"), parameter)
    except InvalidArgument:
        return False
    return True


def _check_calibrations(
    mechanism: Mechanism, parameter: PrivacyParameter | None, depth: int
) -> None:
    """Raise unless draws and guarantees are right at one privacy parameter."""
    replacement = sensitivity_of(1, "replace_one")
    _check_promise(mechanism, mechanism.calibrate(replacement, parameter), replacement, parameter)
    for monotonic in (True, False):
        sensitivity = sensitivity_of(1, "add_remove", monotonic=monotonic)
        calibrated = mechanism.calibrate(sensitivity, parameter)
        _check_refusal(calibrated.law)
        for scores in ([5], [1, 0], [2, 2, 0], [0.5, -0.25], [0.0, 40.0]):
            where = f"{mechanism} on {scores}"
            _check_draw(calibrated.law(read_vector(scores)), len(scores), depth, where)
            _check_rates(calibrated, read_vector(scores), where)
        _check_promise(mechanism, calibrated, sensitivity, parameter)
        _check_guarantee(calibrated.law, calibrated.guarantee, sensitivity, str(mechanism))


def _check_refusal(law: Callable[[Vector], Law]) -> None:
    """Raise unless a NaN is rejected when the law is made, before any bit could be read."""
    for bad in (float("nan"), float("inf"), -float("inf")):
        try:
            law(read_vector([0.0, bad]))
        except InvalidScores:
            continue
        raise AssertionError(f"a score of {bad} was not rejected before the draw")


def _check_rates(calibrated: Calibrated, scores: Vector, where: str) -> None:
    """Raise unless the distribution is that of each stated rate, from which short lists and rounds are drawn."""
    rates: dict[str, tuple[Rate | None, Callable[[Vector, Any], Law]]] = {
        "rate": (calibrated.rate, Categorical),
        "flip_rate": (calibrated.flip_rate, OneOfTheHeads),
    }
    for name, (rate, law) in rates.items():
        if rate is None:
            continue
        with precision(256):
            pairs = zip(
                calibrated.law(scores).probabilities(),
                law(scores, rate).probabilities(),
                strict=True,
            )
            if not all(probability.overlaps(share) for probability, share in pairs):
                raise AssertionError(f"{where}: the distribution is not that of its {name}")


def _check_draw(law: Law, n: int, depth: int, where: str) -> None:
    """Raise unless draws and batches of two follow the stated probabilities."""
    with precision(256):
        probabilities = law.probabilities()
        if len(probabilities) != n or not all(p.rad() < _NARROW for p in probabilities):
            raise AssertionError(
                f"{where}: {n} narrow balls were expected, the distribution states {probabilities}"
            )
        if not sum(probabilities, arb(0)).contains(1):
            raise AssertionError(f"{where}: the probabilities do not sum to one")
        pairs = {
            (i, j): p * q for i, p in enumerate(probabilities) for j, q in enumerate(probabilities)
        }
    single = bit_tree(law.draw, depth)
    if single.undecided > _OPEN:
        single = bit_tree(law.draw, depth + 4)
    if single.undecided > _OPEN:
        raise AssertionError(
            f"{where}: {float(single.undecided):.2f} of all strings decide nothing"
        )
    _check_tree(single, dict(enumerate(probabilities)), where)

    def pair(bits: Bits) -> tuple[int, ...]:
        return tuple(map(int, law.draws(2, bits)))

    batch = bit_tree(pair, min(depth, 10))
    _check_tree(batch, pairs, f"{where}, two at once")


def _check_tree(tree: BitTree, probabilities: Mapping[Any, arb], where: str) -> None:
    """Raise unless the enumeration agrees with the stated probabilities."""
    if not set(tree.masses) <= set(probabilities):
        raise AssertionError(f"{where}: the draw gives {set(tree.masses) - set(probabilities)}")
    for outcome, probability in probabilities.items():
        if not tree.admits(outcome, probability):
            mass = tree.masses.get(outcome, Fraction(0))
            raise AssertionError(
                f"{where}: the draw gives {outcome} a probability from {mass} to "
                f"{mass + tree.undecided}, the distribution says {probability}"
            )


def _check_promise(
    mechanism: Mechanism,
    calibrated: Calibrated,
    sensitivity: Sensitivity,
    parameter: PrivacyParameter | None,
) -> None:
    """Raise unless the guarantee is one that was asked for: of one record, of groups, and of the other relation."""
    guarantee = calibrated.guarantee
    if guarantee.pure is None:
        raise TypeError(f"{mechanism}: cannot check {guarantee!r}, it has no epsilon")
    problem = excess(mechanism, guarantee, sensitivity, parameter)
    if problem is not None:
        raise AssertionError(f"{guarantee} is not what was asked for: {problem}")
    apart = {f"groups of {size}": (guarantee.group(size), size) for size in _GROUPS}
    if guarantee.neighbors == "add_remove":
        apart["replace_one"] = (guarantee.under("replace_one"), 2)
    for where, (weaker, steps) in apart.items():
        if not _is_apart(weaker, guarantee, steps):
            raise AssertionError(
                f"{mechanism}: {weaker} is not what follows from {guarantee} for {where}"
            )


_GROUPS = (2, 3)


def _is_apart(weaker: Guarantee, guarantee: Guarantee, steps: int) -> bool:
    """Return whether a guarantee for datasets some steps apart is as group privacy says, and no weaker."""
    pure, rho = (weaker.pure, guarantee.pure), (weaker.rho, guarantee.rho)
    if pure[0] is None or pure[1] is None or not pure[1] <= pure[0] <= steps * pure[1]:
        return False
    return rho[0] is None or rho[1] is None or rho[1] <= rho[0] <= steps**2 * rho[1]


def _check_guarantee(
    law: Callable[[Vector], Law], guarantee: Guarantee, sensitivity: Sensitivity, where: str
) -> None:
    """Raise unless neighbouring score vectors certainly differ by no more than promised."""
    for scores, other in _neighbors(sensitivity):
        with precision(256):
            one, two = law(read_vector(scores)), law(read_vector(other))
            holds = _keeps(guarantee, one.probabilities(), two.probabilities())
            if holds and isinstance(guarantee, BoundedRange):
                ratios = log_ratios(one, two)
                widest = ball(guarantee.epsilon) + _NARROW
                holds = all(a - b <= widest for a in ratios for b in ratios)
            if not holds:
                raise AssertionError(
                    f"{where}: {scores} and {other} differ by more than {guarantee}"
                )


def _keeps(guarantee: Guarantee, p: list[arb], q: list[arb]) -> bool:
    """Return whether every event certainly has no more probability than promised, both ways."""
    for event in product((False, True), repeat=len(p)):
        if len(set(event)) < 2:
            continue  # nothing, or everything
        before = sum((chance for chance, inside in zip(p, event, strict=True) if inside), arb(0))
        after = sum((chance for chance, inside in zip(q, event, strict=True) if inside), arb(0))
        for some, other in ((before, after), (after, before)):
            most = guarantee.ceiling(some)
            if most is None or not other <= most + _NARROW:
                return False
    return True


def log_ratios(law: Law, other: Law) -> list[arb]:
    """Return balls around ln(p[i] / q[i]), at the precision in force, without those of 0 and 0."""
    pairs = zip(law.probabilities(), other.probabilities(), strict=True)
    return [(p / q).log() for p, q in pairs if not (p == 0 and q == 0)]


def _neighbors(sensitivity: Sensitivity) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Yield every pair of neighbouring vectors of three scores from 0 to 2."""
    steps = (0, 1) if sensitivity.monotonic else (-1, 0, 1)
    for scores in product(range(3), repeat=3):
        for change in product(steps, repeat=3):
            yield scores, [score + step for score, step in zip(scores, change, strict=True)]
