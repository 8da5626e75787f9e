"""Tests of `discreet.cli`."""
