"""Tests of `discreet.tables.engines`."""
