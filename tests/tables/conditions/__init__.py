"""Tests of `discreet.tables.engines.conditions`."""
