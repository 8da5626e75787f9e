"""Which of the fast passes is in use."""

from dataclasses import dataclass, field

from .kernel_library import open_library, threads


@dataclass(frozen=True, slots=True)
class Speed:
    """How this computer draws. Answers and guarantees do not depend on it.

    Attributes:
        kernel: the instructions that the compiled kernel uses, "x86-64-v4", "x86-64-v3" or "neon". None if numpy
            computes instead.
        threads: the number of threads that share vectors of a million numbers or more, and batches of 65,536 draws
            or more.
        reason: why the kernel is not used, None if it is.
    """

    kernel: str | None
    threads: int
    reason: str | None = field(default=None)


def speed() -> Speed:
    """Return whether draws use the compiled kernel, and the reason if they don't.

    Environment variables are read when the first answer is drawn. DISCREET_KERNEL=0 turns the kernel off, and
    DISCREET_THREADS sets the number of its threads, by default one per processor.

    Example:
        >>> from discreet.sampling.speed import speed
        >>> speed()  # doctest: +SKIP
        Speed(kernel='x86-64-v3', threads=2, reason=None)
    """
    library = open_library()
    if isinstance(library, str):
        return Speed(None, 1, library)
    return Speed(library.level, threads())
