"""Described datasets: what an owner declares about data. Public, and never read from rows."""

from .dataset import Dataset as Dataset
