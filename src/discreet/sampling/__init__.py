"""Exact draws from distributions that are given by computable real numbers, without a notion of privacy."""
