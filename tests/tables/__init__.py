"""Tests of `discreet.tables`."""
