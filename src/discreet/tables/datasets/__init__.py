"""Described datasets: an owner's declarations about data. Public, and never read from rows."""

from .dataset import Dataset as Dataset
