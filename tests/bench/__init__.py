"""Tests of the benchmarks, and of the measures of the source."""
