"""Tests of permute-and-flip over runs of candidates."""
