"""Tests mirror the modules; testing.py of the library holds the harness."""
