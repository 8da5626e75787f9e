"""Tests of `discreet.attacks`."""
