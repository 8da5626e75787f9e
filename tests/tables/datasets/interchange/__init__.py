"""Tests of descriptions in the words of others."""
