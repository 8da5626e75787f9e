"""The mechanisms that state their worst case."""

from .mechanism_names import MECHANISMS, with_defaults

BOUNDED = tuple(n for n, kind in MECHANISMS.items() if with_defaults(kind).worst_case is not None)
"""Their names."""
