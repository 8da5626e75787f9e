"""The classes and functions that the listings of the sources call, drawn exactly: their call, and ours."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import discreet
from discreet.mechanisms import Base2, Base2Eta


class ExponentialMechanism:
    """Sherpa's `ExponentialMechanism(u, r, delta_u, epsilon, size)`: `discreet.select_by`."""

    def __init__(self, u: Any, r: Any, delta_u: float, epsilon: float, size: int = 1) -> None:
        self.u, self.r = u, r
        self.terms: dict[str, Any] = {
            "sensitivity": float(delta_u), "epsilon": float(epsilon), "size": size, "error": "1e-9",
        }  # fmt: skip

    def apply(self, data: Any) -> Any:
        """Return `size` answers."""
        return np.array(discreet.select_by(self.u, data, self.r, **self.terms).value)


class DataNode:
    """Sherpa's `DataNode`: it holds private data, and answers with the mechanism that was configured."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.access: dict[str, ExponentialMechanism] = {}

    def set_private_data(self, name: str, data: Any) -> None:
        """Put data into the node."""
        self.data[name] = data

    def configure_data_access(self, name: str, definition: ExponentialMechanism) -> None:
        """Say by which mechanism data are asked."""
        self.access[name] = definition

    def query(self, name: str) -> Any:
        """Return what the mechanism answers."""
        return self.access[name].apply(self.data[name])


def naive_exp_mech(eps: float, u: Callable[[Any], float], outcomes: Sequence[Any]) -> Any:
    """Ilvento's `naive_exp_mech(eps, u, O)`, whose utilities are costs: `discreet.select`."""
    scores = {outcome: -u(outcome) for outcome in outcomes}
    return discreet.select(scores, sensitivity=1, epsilon=eps).value


def naive_laplace(f: Callable[[], float], delta_f: float, eps: float) -> Any:
    """Ilvento's `naive_laplace(f, delta_f, eps)`: `discreet.laplace`, on a grid."""
    return float(discreet.laplace(f(), sensitivity=delta_f, epsilon=eps, step=2**-10).value)


class ExpMech:
    """Ilvento's `ExpMech`: `discreet.select` with `Base2`, for which ranges of utilities are not needed."""

    def __init__(self, rng: Any, eta_x: int, eta_y: int, eta_z: int, **unneeded: Any) -> None:
        self.mechanism = Base2(Base2Eta(eta_x, eta_y, eta_z))

    def set_utility(self, u: Callable[[Any], float]) -> None:
        """Set the costs."""
        self.u = u

    def exact_exp_mech(self, outcomes: Sequence[Any]) -> Any:
        """Return one of the outcomes."""
        scores = {outcome: -self.u(outcome) for outcome in outcomes}
        return discreet.select(scores, sensitivity=1, mechanism=self.mechanism).value


class LaplaceMech(ExpMech):
    """Ilvento's `LaplaceMech`: noise on a grid with ends."""

    def __init__(self, rng: Any, t: float, s: float, eta_x: int, eta_y: int, eta_z: int,
                 b_min: float, b_max: float, gamma: float) -> None:  # fmt: skip
        super().__init__(rng, eta_x, eta_y, eta_z)
        count = math.floor((b_max - b_min) / gamma)
        self.Outcomes = [b_min + i * gamma for i in range(count + 1)]
        self.set_utility(lambda outcome: abs(outcome - t) / s)

    def run_mechanism(self) -> Any:
        """Return a noisy target."""
        return self.exact_exp_mech(self.Outcomes)


def exponential(x: Any, R: Any, u: Any, sensitivity: float, epsilon: float) -> Any:  # noqa: N803
    """Near and Abuah's `exponential(x, R, u, sensitivity, epsilon)`: `discreet.select_by`."""
    options = list(R)  # fixed beforehand in earnest, not read off the column
    return discreet.select_by(
        discreet.per_candidate(u), x, options,
        sensitivity=sensitivity, epsilon=epsilon, granularity="1/1000",
    ).value  # fmt: skip


def report_noisy_max(x: Any, R: Any, u: Any, sensitivity: float, epsilon: float) -> Any:  # noqa: N803
    """Near and Abuah's `report_noisy_max`: the same with `mechanism="noisy_max"`, at 2ε for scores in general."""
    return discreet.select_by(
        discreet.per_candidate(u), x, list(R), sensitivity=sensitivity, epsilon=2 * epsilon,
        mechanism="noisy_max", granularity="1/1000",
    ).value  # fmt: skip
