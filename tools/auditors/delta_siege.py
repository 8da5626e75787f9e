"""Delta-Siege (Lokna, Paradis, Dimitrov and Vechev 2023): a classifier, and one parameter for ε and δ."""

from typing import Any

from .auditor import CONFIDENCE, EPSILON, Finding
from .checkout import enter, load
from .streams import Stream

_UNUSED = (
    *(f"deltasiege.mechanism.{name}" for name in (
        "laplace_ibm", "laplace_pydp", "laplace_opendp", "gauss_mechanism", "gauss_ibm", "gauss_pydp",
        "gauss_opendp", "gauss_opacus", "gauss_ziggurat", "gauss_polar", "gauss_box_muller", "pgm_mechansims",
    )),
    "deltasiege.attack.witnesses.witness_dpopt",
)  # fmt: skip
"""Mechanisms of other libraries, and a search by another auditor: they need what is not installed."""


class _Never:
    """A flag that is not set, which Delta-Siege also calls."""

    def __bool__(self) -> bool:
        return False

    def __call__(self) -> bool:
        return False


def _mechanism(base: Any, stream: Stream) -> Any:
    """Return a class of mechanisms as Delta-Siege makes them, with the guarantee 1 / ε of its Laplace."""

    class Served(base):  # type: ignore[misc]
        store_data = _Never()

        def _init_helper(self, epsilon: float) -> None:
            super()._init_helper(epsilon=epsilon, sensitivity=1.0)

        def __call__(self, side: int, n: int) -> Any:
            return stream.one_hot(int(side), n)

    return Served


class DeltaSiege:
    """Delta-Siege with logistic regression of scikit-learn, on given pairs."""

    name = "Delta-Siege"
    figure = "lower bound of ε"
    takes_delta = False

    def start(self) -> str:
        """Return the revision of the checkout that DELTA_SIEGE names."""
        version = enter("DELTA_SIEGE", "", _UNUSED)
        self._library = load("deltasiege")
        self._laplace = load("deltasiege.mechanism.laplace_mechanism").LaplaceMechanism
        self._attack = load("deltasiege.attack")
        self._logger = load("deltasiege.logging").Logger
        self._regression = load("sklearn.linear_model").LogisticRegression
        return version

    def look(self, stream: Stream) -> Finding:
        """Attack both orders of the pair; its Laplace has no delta."""
        many, library = stream.subject.draws, self._library
        config = library.Config(
            n_train=many, n_init=many, n_check=many, n_final=many, batch_size=min(many, 50_000),
            confidence=CONFIDENCE, n_jobs=1, n_experiments=1,
        )  # fmt: skip
        trial = library.Trial(
            config=config, input_pair=(0, 1),
            mechanism=_mechanism(self._laplace, stream)(epsilon=EPSILON),
            classifier_factories=library.SklearnClassifier.get_factory(classifier=self._regression()),
            witnesses_factories=self._attack.WitnessOptimization.get_factory(
                estimator=self._attack.LinesearchEstimator()
            ),
            logger=self._logger(self._logger.State.DOWN),
        )  # fmt: skip
        trial.run()
        # The share of the claimed 1 / ε that the answers allow for at most.
        bound = EPSILON / float(trial.witnesses[trial.best_witness_idx].estimate_c)
        return Finding(bound > EPSILON, f"{bound:.3f}")
