"""The public names and where each is defined, one a line: `from .module import name as name`.

Type checkers and editors read this file, and `__init__.py` does, which imports each name when it is first used.
"""

from . import attacks as attacks
from . import audit as audit
from . import errors as errors
from . import plots as plots
from . import testing as testing
from .accuracy import ErrorBound as ErrorBound
from .batches import Batch as Batch
from .candidates import Grid as Grid
from .datasets import Dataset as Dataset
from .errors import DiscreetError as DiscreetError
from .ledger import Budget as Budget
from .ledger import Charge as Charge
from .ledger import Ledger as Ledger
from .ledger import Quote as Quote
from .ledger import Session as Session
from .ledger.described import read_dataset as read_dataset
from .mechanisms import MECHANISMS as MECHANISMS
from .mechanisms.above_threshold import AboveThreshold as AboveThreshold
from .mechanisms.base2 import Base2 as Base2
from .mechanisms.base2 import Base2Eta as Base2Eta
from .mechanisms.base2 import best_eta as best_eta
from .mechanisms.exponential import Exponential as Exponential
from .mechanisms.noisy_max import NoisyMax as NoisyMax
from .mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from .node import AllowedQuestion as AllowedQuestion
from .node import Analyst as Analyst
from .node import DataNode as DataNode
from .opendp import to_opendp as to_opendp
from .planning.compare import Comparison as Comparison
from .planning.compare import compare as compare
from .planning.distribution import Distribution as Distribution
from .planning.enclosure import Enclosure as Enclosure
from .planning.simulate import distribution as distribution
from .planning.simulate import simulate as simulate
from .planning.worst_case import epsilon_for as epsilon_for
from .planning.worst_case import worst_error as worst_error
from .privacy.composition import Composition as Composition
from .privacy.composition import compose as compose
from .privacy.guarantees import ZCDP as ZCDP
from .privacy.guarantees import ApproxDP as ApproxDP
from .privacy.guarantees import BoundedRange as BoundedRange
from .privacy.guarantees import GaussianDP as GaussianDP
from .privacy.guarantees import LaplaceDP as LaplaceDP
from .privacy.guarantees import LogisticDP as LogisticDP
from .privacy.guarantees import LossDP as LossDP
from .privacy.guarantees import MixedRange as MixedRange
from .privacy.guarantees import NoGuarantee as NoGuarantee
from .privacy.guarantees import PureDP as PureDP
from .privacy.guarantees import RenyiDP as RenyiDP
from .privacy.guarantees import SummedRange as SummedRange
from .privacy.odometer import Odometer as Odometer
from .privacy.parallel import parallel as parallel
from .privacy.pld import LossDistribution as LossDistribution
from .releases import Release as Release
from .releases import Simulation as Simulation
from .reports import report as report
from .scores import SCORES as SCORES
from .scores.custom import each as each
from .service import Connection as Connection
from .service import PastRelease as PastRelease
from .service import connect as connect
from .tables.candidate_table import CandidateTable as CandidateTable
from .tables.csv_files import csv as csv
from .tables.queries import sql as sql
from .terms import Terms as Terms
from .verbs.generalized import generalized as generalized
from .verbs.mode import mode as mode
from .verbs.noise import geometric as geometric
from .verbs.noise import laplace as laplace
from .verbs.noise import randomized_response as randomized_response
from .verbs.price import price as price
from .verbs.private_candidates import private_candidates as private_candidates
from .verbs.quantile import maximum as maximum
from .verbs.quantile import median as median
from .verbs.quantile import minimum as minimum
from .verbs.quantile import quantile as quantile
from .verbs.quantiles import quantiles as quantiles
from .verbs.select import select as select
from .verbs.select_by import select_by as select_by
from .verbs.top_k import top_k as top_k

__version__: str
__all__: list[str]
