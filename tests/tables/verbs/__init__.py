"""Tests of `discreet.tables.verbs`."""
