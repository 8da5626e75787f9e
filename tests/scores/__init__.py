"""Tests of `discreet.scores`."""
