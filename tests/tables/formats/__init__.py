"""Tests of `discreet.tables.engines.formats`."""
