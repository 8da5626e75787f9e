"""Tests of `discreet.planning`."""
