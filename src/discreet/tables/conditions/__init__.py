"""Conditions and statements: where=, SQL and Narwhals, as values."""
