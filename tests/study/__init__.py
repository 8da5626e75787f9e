"""Tests of `discreet.study`."""
