"""Exact draws from distributions that are given by computable real numbers. Nothing here knows of privacy."""
