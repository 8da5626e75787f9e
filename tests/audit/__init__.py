"""Tests of `discreet.audit`."""
