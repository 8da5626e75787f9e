"""Which of the fast passes is in use."""

from dataclasses import dataclass, field

from .kernel_library import open_library, threads


@dataclass(frozen=True, slots=True)
class Speed:
    """How draws are computed on this computer. Answers and guarantees do not depend on it.

    Attributes:
        kernel: the instructions that the compiled kernel uses, "x86-64-v4", "x86-64-v3" or "neon"; None where numpy
            computes instead.
        threads: how many threads share vectors of a million numbers, and batches of 65,536 draws, and larger ones.
        reason: why the kernel is not in use, None where it is.
    """

    kernel: str | None
    threads: int
    reason: str | None = field(default=None)


def speed() -> Speed:
    """Return whether draws use the compiled kernel, and if not, why.

    The environment decides when the first answer is drawn: DISCREET_KERNEL=0 leaves the kernel out, and
    DISCREET_THREADS says how many threads it may use, by default one a processor.

    Example:
        >>> from discreet.sampling.speed import speed
        >>> speed()  # doctest: +SKIP
        Speed(kernel='x86-64-v3', threads=2, reason=None)
    """
    library = open_library()
    if isinstance(library, str):
        return Speed(None, 1, library)
    return Speed(library.level, threads())
