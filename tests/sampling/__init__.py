"""Tests of `discreet.sampling`."""
