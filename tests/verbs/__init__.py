"""Tests of `discreet.verbs`."""
