"""Tests of `discreet.node`."""
