"""Tests of described datasets."""
