"""Tests of `discreet.tables.engines.values`."""
