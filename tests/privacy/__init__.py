"""Tests of `discreet.privacy`."""
