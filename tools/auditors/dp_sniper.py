"""DP-Sniper (Bichsel, Steffen, Bogunovic and Vechev 2021): a classifier looks for the event."""

import logging
import tempfile
from typing import Any

import numpy as np

from .auditor import CONFIDENCE, EPSILON, Finding
from .checkout import enter, load
from .streams import Stream


class Served:
    """A mechanism as DP-Sniper calls it: by a side and a number of answers."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def m(self, side: Any, n_samples: int = 1) -> Any:
        """Return the next answers of a side."""
        return self._stream.one_hot(int(np.ravel(side)[0]), n_samples)


class DPSniper:
    """DP-Sniper with logistic regression, both ways."""

    name = "DP-Sniper"
    figure = "lower bound of ε"
    takes_delta = False

    def start(self) -> str:
        """Return the revision of the checkout that DP_SNIPER names."""
        version = enter("DP_SNIPER", "")
        self._sniper = load("dpsniper.attack.dpsniper").DPSniper
        self._factory = load("dpsniper.classifiers.classifier_factory").LogisticRegressionFactory
        self._adam = load("dpsniper.classifiers.torch_optimizer_factory").AdamOptimizerFactory
        self._config = load("dpsniper.search.ddconfig").DDConfig
        self._estimators = load("dpsniper.probability.estimators")
        load("dpsniper.utils.torch").torch_initialize(torch_threads=1)
        self._folder = tempfile.TemporaryDirectory(prefix="dp-sniper-")
        load("dpsniper.utils.paths").set_output_directory(self._folder.name)
        logging.disable(logging.WARNING)
        return version

    def look(self, stream: Stream) -> Finding:
        """Attack both orders of the pair, each at half of the risk; it knows no delta."""
        many = max(1000, stream.subject.draws // 1000 * 1000)
        config = self._config(
            n_train=many, n=many, n_check=many, n_final=many, n_processes=1,
            confidence=1 - (1 - CONFIDENCE) / 2,
        )  # fmt: skip
        served = Served(stream)
        bounds = []
        for sides in ((0, 1), (1, 0)):
            factory = self._factory(
                in_dimensions=stream.categories, optimizer_factory=self._adam(learning_rate=0.05)
            )
            first, second = (np.array([side]) for side in sides)
            attack = self._sniper(served, factory, config).best_attack(first, second)
            estimator = self._estimators.EpsEstimator(
                self._estimators.PrEstimator(served, many, config)
            )
            bounds.append(float(estimator.compute_eps_estimate(first, second, attack)[1]))
        return Finding(max(bounds) > EPSILON, f"{max(bounds):.3f}")
