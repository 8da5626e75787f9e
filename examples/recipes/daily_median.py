"""A step of a pipeline that runs every day, and may run twice: its run id is the name of the request.

In Airflow it is a task, @task(retries=3) on a function that calls `daily_median(run_id, ...)` with the `run_id` of
its context; in dbt a Python model that returns `daily_median(dbt.config.get("run_id"), ...)` as a table of one row.
"""

import discreet


def daily_median(run_id: str, table: str, ledger: str) -> int:
    """Return the median age of a day: a run that is repeated is answered from the ledger, and costs nothing."""
    account = discreet.Ledger(ledger).session("people")
    release = discreet.median(
        table, "age", candidates=range(121), epsilon="1/4", ledger=account, request=run_id
    )
    return int(release.value)
