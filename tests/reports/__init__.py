"""Tests of `discreet.reports`."""
