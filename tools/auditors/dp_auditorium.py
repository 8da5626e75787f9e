"""DP-Auditorium (Kong, Muñoz Medina, Ribero and Syed 2024): by histogram, network and Rényi divergence."""

import os
from typing import Any

import numpy as np

from .auditor import CONFIDENCE, EPSILON, Finding
from .checkout import enter, load
from .streams import Stream

_UNUSED = (
    "dp_auditorium.generators",
    "dp_auditorium.mechanisms",
    "dp_auditorium.privacy_test_runner",
)
"""Its search for data, which needs vizier, and mechanisms of its own."""

_LEAST_DELTA = 1e-3
"""A delta of 0 is refused by its testers."""


class DPAuditorium:
    """DP-Auditorium's testers by histogram, by hockey-stick divergence and by Rényi divergence, worse order."""

    name = "DP-Auditorium"
    figure = "lower bounds: δ by histogram, δ by network, Rényi of order 2"
    takes_delta = True

    def start(self) -> str:
        """Return the revision of the checkout that DP_AUDITORIUM names."""
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        version = enter("DP_AUDITORIUM", "python/dp_auditorium", _UNUSED)
        self._tensorflow = load("tensorflow")
        self._configs = load("dp_auditorium.configs.property_tester_config")
        self._properties = load("dp_auditorium.configs.privacy_property")
        names = ("histogram_tester", "hockey_stick_tester", "renyi_tester")
        self._testers = [load(f"dp_auditorium.testers.{name}") for name in names]
        return version

    def look(self, stream: Stream) -> Finding:
        """Ask each tester about both orders, of the same answers; they share the risk."""
        risk = (1 - CONFIDENCE) / 6
        many = min(stream.subject.draws, 100_000)
        delta = max(float(stream.subject.delta), _LEAST_DELTA)
        drawn = [stream.take(side, many) for side in (0, 1)]
        figures, is_refuted = [], False
        makers = [self._histogram, self._hockey_stick]
        if not stream.subject.delta:  # with one, no order of Rényi need be finite
            makers.append(self._renyi)
        for make in makers:
            bounds = []
            for pair in (drawn, drawn[::-1]):
                tester, needs_one_hot = make(stream.categories, delta)
                rows = [stream.as_rows(each) if needs_one_hot else each for each in pair]
                bound = float(tester.estimate_lower_bound(*rows, risk))
                is_refuted = is_refuted or bool(tester.reject_property(bound))
                bounds.append(bound)
            # Of a bound that so few answers do not give, which is no number, the other order's is left.
            figures.append(f"{max([each for each in bounds if each == each], default=np.nan):.3f}")
        return Finding(is_refuted, ", ".join(figures))

    def _histogram(self, categories: int, delta: float) -> tuple[Any, bool]:
        claim = self._properties.ApproximateDp(EPSILON, delta)
        config = self._configs.HistogramPropertyTesterConfig(True, categories, 0, categories, claim)
        return self._testers[0].HistogramTester(config), False

    def _hockey_stick(self, categories: int, delta: float) -> tuple[Any, bool]:
        module = self._testers[1]
        claim = self._properties.ApproximateDp(EPSILON, delta)
        config = self._configs.HockeyStickPropertyTesterConfig(
            module.make_default_hs_training_config(), claim
        )
        return module.HockeyStickPropertyTester(config, module.make_default_hs_base_model()), True

    def _renyi(self, categories: int, delta: float) -> tuple[Any, bool]:
        module = self._testers[2]
        training = self._configs.TrainingConfig(2, 1000, 1e-2, model_output_coordinate_bound=2.0)
        claim = self._properties.PrivacyProperty(pure_dp=self._properties.PureDp(EPSILON))
        config = self._configs.RenyiPropertyTesterConfig(2.0, training, claim)
        return module.RenyiPropertyTester(config, module.make_default_renyi_base_model()), True
