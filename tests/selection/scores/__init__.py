"""Tests of `discreet.selection.scores`."""
