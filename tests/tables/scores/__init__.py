"""Tests of `discreet.tables.scores`."""
