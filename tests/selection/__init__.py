"""Tests of `discreet.selection`."""
