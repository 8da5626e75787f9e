"""The public names and where each is defined, one a line: `from .module import name as name`.

Type checkers and editors read this file, and `__init__.py` does, which imports each name when it is first used.
"""

from . import attacks as attacks
from . import audit as audit
from . import errors as errors
from . import mechanisms as mechanisms
from . import plots as plots
from . import privacy as privacy
from . import testing as testing
from .batches import Batch as Batch
from .candidates import Grid as Grid
from .datasets import Dataset as Dataset
from .errors import DiscreetError as DiscreetError
from .ledger import Budget as Budget
from .ledger import Ledger as Ledger
from .ledger import Session as Session
from .ledger.toml_budgets import read_dataset as read_dataset
from .planning.compare import compare as compare
from .planning.simulate import distribution as distribution
from .planning.simulate import simulate as simulate
from .planning.worst_case import epsilon_for as epsilon_for
from .planning.worst_case import worst_error as worst_error
from .privacy.composition import compose as compose
from .privacy.parallel import compose_parallel as compose_parallel
from .releases import Release as Release
from .reports import report as report
from .scores.custom import per_candidate as per_candidate
from .service import Connection as Connection
from .service import connect as connect
from .tables.candidate_table import CandidateTable as CandidateTable
from .tables.csv_files import scan_csv as scan_csv
from .tables.sql_queries import scan_query as scan_query
from .verbs.best_price import best_price as best_price
from .verbs.check import check as check
from .verbs.mode import mode as mode
from .verbs.noise import geometric as geometric
from .verbs.noise import laplace as laplace
from .verbs.noise import randomized_response as randomized_response
from .verbs.private_candidates import private_candidates as private_candidates
from .verbs.quantile import maximum as maximum
from .verbs.quantile import median as median
from .verbs.quantile import minimum as minimum
from .verbs.quantile import quantile as quantile
from .verbs.quantiles import quantiles as quantiles
from .verbs.select import select as select
from .verbs.select_by import select_by as select_by
from .verbs.select_generalized import select_generalized as select_generalized
from .verbs.select_rows import select_rows as select_rows
from .verbs.selector import selector as selector
from .verbs.top_k import select_top_k as select_top_k
from .verbs.top_k import top_k as top_k

__version__: str
__all__: list[str]
