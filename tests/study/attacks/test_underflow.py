"""The attack on weights that underflow."""

import numpy as np
import pytest

from discreet.mechanisms import Mechanism
from discreet.sampling.bits import SystemBits
from discreet.study.attacks import underflow
from tests.study.attacks.test_attacks import OURS, law


@pytest.mark.parametrize("mechanism", OURS, ids=str)
def test_attack_one_draws_all_candidates(mechanism: Mechanism) -> None:
    """The naive mechanism answers candidate 0 only; ours answers it in a few of a hundred draws."""
    drawn = np.asarray(law(mechanism, underflow._WITH_ALICE, "1/2").draws(400, SystemBits()))
    assert len(set(drawn.tolist())) > 50
    assert (drawn == 0).mean() < 0.1
