"""Tests of rounds of a mechanism in one race."""
