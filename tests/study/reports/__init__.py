"""Tests of `discreet.study.reports`."""
