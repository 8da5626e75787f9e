"""Tests of `discreet.mechanisms`."""
