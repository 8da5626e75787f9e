"""One library's answers to the questions of `side_by_side`: `python side_by_side_peers.py NAME FOLDER REPEATS`.

It runs in the library's own interpreter, which may lack discreet and numpy. Every function imports its library.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any

EPSILON, DELTA, TOP_EPSILON = 1.0, 1e-6, 0.1
CANDIDATES, BEST, LARGEST_INCOME = 50, 20, 200_000
INCOMES_OF_A_LIST = [100.0 * step for step in range(5001)]
"""Candidates for libraries that take no fewer than a list: every hundred up to half a million."""

Ask = Callable[[], Any]


def load(name: str) -> Any:
    """Return a module of the library, which may not be there."""
    return import_module(name)


def rows_of(folder: Path, name: str) -> list[list[str]]:
    """Return the rows of a file of the data."""
    lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split(",") for line in lines]


def incomes_of(folder: Path) -> list[float]:
    """Return the incomes."""
    return [float(cell) for (cell,) in rows_of(folder, "incomes")]


def votes_of(folder: Path) -> list[int]:
    """Return how many votes there are by candidate."""
    tally = Counter(int(cell) for (cell,) in rows_of(folder, "votes"))
    return [tally[k] for k in range(CANDIDATES)]


def best(numbers: list[float]) -> list[int]:
    """Return the places of the largest numbers."""
    return sorted(range(len(numbers)), key=lambda k: -numbers[k])[:BEST]


def discreet(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the questions to discreet: from files, and no bounds for the median."""
    library = load("discreet")

    log, votes, incomes = (str(folder / f"{name}.csv") for name in ("log", "votes", "incomes"))
    yield (
        "keys",
        lambda: (
            library.counts(
                log, "page", epsilon=1, delta="1e-6", privacy_unit="user", most=5000
            ).value
        ),
    )
    candidates = list(map(str, range(CANDIDATES)))
    yield (
        "top",
        lambda: [
            int(k)
            for k in library.top_k(
                votes, "vote", k=BEST, candidates=candidates, epsilon="0.1", method="counts"
            ).value
        ],
    )
    yield "median", lambda: float(library.median(incomes, "income", epsilon=1).value)
    yield (
        "mean",
        lambda: float(
            library.mean(incomes, "income", minimum=0, maximum=LARGEST_INCOME, epsilon=1).value
        ),
    )


def keys_by_threshold(dp: Any, log: list[list[str]]) -> Any:
    """Return the pages above the least threshold that δ allows.

    OpenDP 0.16.0 claims the chance of a key above the threshold, and releases one at it too: the true δ is the
    claim at a threshold that is lower by one. See docs/explanation/upstream_reports.md.
    """
    counts = Counter(page for _, page in log)
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    space = domain, dp.l01inf_distance(dp.absolute_distance(T=int))
    threshold = 2
    claimed = dp.m.make_laplace_threshold(*space, scale=1 / EPSILON, threshold=threshold - 1)
    while claimed.map((1, 1, 1))[1] > DELTA:
        threshold += 1
        claimed = dp.m.make_laplace_threshold(*space, scale=1 / EPSILON, threshold=threshold - 1)
    release = dp.m.make_laplace_threshold(*space, scale=1 / EPSILON, threshold=threshold)
    return release(dict(counts))


def mean_of_noise(dp: Any, numbers: tuple[Any, Any], incomes: list[float]) -> float:
    """Return a noisy sum by a noisy count."""
    total = (
        numbers
        >> dp.t.then_clamp((0.0, float(LARGEST_INCOME)))
        >> dp.t.then_sum()
        >> dp.m.then_laplace(scale=2 * LARGEST_INCOME / EPSILON)
    )
    size = numbers >> dp.t.then_count() >> dp.m.then_laplace(scale=2 / EPSILON)
    return float(total(incomes) / max(1, size(incomes)))


def opendp(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the questions to OpenDP: noise with a threshold or without, a quantile from a list, sum and count."""
    dp = load("opendp.prelude")

    dp.enable_features("contrib")
    log = rows_of(folder, "log")

    yield "keys", partial(keys_by_threshold, dp, log)
    votes = votes_of(folder)
    noise = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1 / TOP_EPSILON
    )
    yield "top", lambda: best(noise(votes))
    incomes = incomes_of(folder)
    numbers = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    yield (
        "median",
        lambda: dp.m.make_private_quantile(
            *numbers,
            dp.max_divergence(),
            candidates=INCOMES_OF_A_LIST,
            alpha=0.5,
            scale=1.0 / EPSILON,
        )(incomes),
    )
    yield "mean", partial(mean_of_noise, dp, numbers, incomes)


def _aggregate(
    library: Any, rows: Any, price: tuple[float, float], public: Any, **params: Any
) -> dict[Any, Any]:
    """Return PipelineDP's answer about rows of a unit, a group and a number: one group of each unit."""
    accountant = library.NaiveBudgetAccountant(*price)
    engine = library.DPEngine(accountant, library.LocalBackend())
    extractors = library.DataExtractors(
        privacy_id_extractor=itemgetter(0),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(2),
    )
    parameters = library.AggregateParams(
        noise_kind=library.NoiseKind.LAPLACE, max_partitions_contributed=1,
        max_contributions_per_partition=1, **params,
    )  # fmt: skip
    answer = engine.aggregate(rows, parameters, extractors, public_partitions=public)
    accountant.compute_budgets()
    return dict(answer)


def pipeline_dp(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the questions to PipelineDP, on its local backend."""
    library = load("pipeline_dp")
    ask = partial(_aggregate, library)
    log = [(user, page, 0) for user, page in rows_of(folder, "log")]
    votes = [(place, int(cell), 0) for place, (cell,) in enumerate(rows_of(folder, "votes"))]
    incomes = [(place, 0, one) for place, one in enumerate(incomes_of(folder))]
    users, percentile = library.Metrics.PRIVACY_ID_COUNT, library.Metrics.PERCENTILE(50)

    def keys() -> dict[str, float]:
        pages = ask(log, (EPSILON, DELTA), None, metrics=[users])
        return {page: one.privacy_id_count for page, one in pages.items()}

    def top() -> list[int]:
        counts = ask(votes, (TOP_EPSILON, 0), list(range(CANDIDATES)), metrics=[users])
        return best([counts[k].privacy_id_count for k in range(CANDIDATES)])

    def number(metric: Any, largest: int) -> Any:
        bounds = {"min_value": 0, "max_value": largest}
        return ask(incomes, (EPSILON, 0), [0], metrics=[metric], **bounds)[0]

    yield "keys", keys
    yield "top", top
    yield "median", lambda: number(percentile, 500_000).percentile_50
    yield "mean", lambda: number(library.Metrics.MEAN, LARGEST_INCOME).mean


def google(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the keys alone, by Google's partition selection."""
    log = rows_of(folder, "log")
    selection = load("pydp.algorithms.partition_selection")
    strategy = selection.create_truncated_geometric_partition_strategy(EPSILON, DELTA, 1)

    def keys() -> dict[str, None]:
        counts = Counter(page for _, page in log)
        return {page: None for page, n in counts.items() if strategy.should_keep(n)}

    yield "keys", keys


class Tumult:
    """Tumult Analytics on Spark: keys and counts with half of epsilon each, as it has no joint release."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.library = folder, load("tmlt.analytics")
        builder = load("pyspark.sql").SparkSession.builder.config("spark.ui.enabled", "false")
        self.spark = builder.master("local[2]").getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def session(self, rows: Any, names: list[str], budget: Any) -> Any:
        """Return a session about rows with a budget."""
        frame, change = self.spark.createDataFrame(rows, names), self.library.AddMaxRows(1)
        return self.library.Session.from_dataframe(budget, "t", frame, protected_change=change)

    @property
    def query(self) -> Any:
        """A query of the rows."""
        return self.library.QueryBuilder("t")

    def keys(self) -> dict[str, int]:
        """Return the pages with their counts."""
        library, price = self.library, self.library.ApproxDPBudget
        log = self.session(rows_of(self.folder, "log"), ["user", "page"], price(EPSILON, DELTA))
        pages = log.evaluate(self.query.get_groups(["page"]), price(EPSILON / 2, DELTA))
        counts = self.query.groupby(library.KeySet.from_dataframe(pages)).count()
        rows = log.evaluate(counts, price(EPSILON / 2, 0)).collect()
        return {row["page"]: row["count"] for row in rows}

    def top(self) -> list[int]:
        """Return the best candidates."""
        price = self.library.PureDPBudget(TOP_EPSILON)
        rows = [(int(cell),) for (cell,) in rows_of(self.folder, "votes")]
        candidates = self.library.KeySet.from_dict({"vote": list(range(CANDIDATES))})
        votes = self.session(rows, ["vote"], price)
        answer = votes.evaluate(self.query.groupby(candidates).count(), price).collect()
        counts = {row["vote"]: row["count"] for row in answer}
        return best([counts[k] for k in range(CANDIDATES)])

    def number(self, question: Any) -> float:
        """Return the answer to a question about incomes."""
        price = self.library.PureDPBudget(EPSILON)
        incomes = self.session([(one,) for one in incomes_of(self.folder)], ["income"], price)
        return float(incomes.evaluate(question, price).collect()[0]["answer"])


def tumult(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the questions to Tumult Analytics."""
    asked = Tumult(folder)
    yield "keys", asked.keys
    yield "top", asked.top
    median = asked.query.median("income", low=0, high=500_000, name="answer")
    yield "median", partial(asked.number, median)
    mean = asked.query.average("income", low=0, high=LARGEST_INCOME, name="answer")
    yield "mean", partial(asked.number, mean)


def diffprivlib(folder: Path) -> Iterator[tuple[str, Ask]]:
    """Yield the questions to diffprivlib, which takes the number of records as public."""
    geometric = load("diffprivlib.mechanisms").Geometric
    tools = load("diffprivlib.tools")

    votes, incomes = votes_of(folder), incomes_of(folder)
    yield "top", lambda: best([geometric(epsilon=TOP_EPSILON).randomise(n) for n in votes])
    yield "median", lambda: float(tools.median(incomes, epsilon=EPSILON, bounds=(0, 500_000)))
    yield "mean", lambda: float(tools.mean(incomes, epsilon=EPSILON, bounds=(0, LARGEST_INCOME)))


PACKAGES = {
    "discreet": "discreet", "opendp": "opendp", "pipeline_dp": "pipeline-dp", "google": "python-dp",
    "tumult": "tmlt.analytics", "diffprivlib": "diffprivlib",
}  # fmt: skip


def main() -> None:
    """Ask one library everything, and print its answers and times as JSON."""
    from importlib.metadata import version

    name, folder, repeats = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    answers: dict[str, Any] = {"version": f"{PACKAGES[name]} {version(PACKAGES[name])}"}
    for task, ask in globals()[name](folder):
        ask()  # what is imported and compiled once is not timed
        runs: dict[str, list[Any]] = {"answers": [], "seconds": []}
        for _ in range(repeats):
            start = time.perf_counter()
            answer = ask()
            runs["seconds"].append(time.perf_counter() - start)
            runs["answers"].append(answer)
        answers[task] = runs
    print(json.dumps(answers, default=float))


if __name__ == "__main__":
    main()
