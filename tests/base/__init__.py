"""Tests of `discreet.base`."""
