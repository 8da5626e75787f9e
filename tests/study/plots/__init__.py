"""Tests of `discreet.study.planning`."""
