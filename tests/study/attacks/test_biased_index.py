"""The biased index has the parity of its start."""

from discreet.mechanisms.testing import SeededBits
from discreet.study.attacks import biased_index


def test_the_biased_index_has_the_parity_of_its_start() -> None:
    assert [biased_index.even_share(start) for start in biased_index.STARTS] == [0, 1]
    bits = SeededBits()
    drawn = [biased_index.unsafe_index(biased_index.LARGE, bits.word() >> 11) for _ in range(99)]
    assert all(i % 2 == 0 for i in drawn)
    assert biased_index.is_uniform(6)
