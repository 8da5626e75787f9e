"""Tests of the gap of the winner."""
