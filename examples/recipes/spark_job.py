"""The most common city in a table of Spark, per person: spark-submit examples/recipes/spark_job.py TABLE LEDGER."""

import sys

from pyspark.sql import SparkSession

import discreet

CITIES = ["Basel", "Bern", "Genève", "Lausanne", "Zürich"]


def main(table: str, ledger: str) -> str:
    """Return the released city. The driver holds one count for each candidate, and no row."""
    spark = SparkSession.builder.getOrCreate()
    release = discreet.mode(
        spark.read.parquet(table), "city", candidates=CITIES, epsilon="1/2",
        ledger=discreet.Ledger(ledger).session("people"), request="city of this month",
    )  # fmt: skip
    return str(release.value)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
