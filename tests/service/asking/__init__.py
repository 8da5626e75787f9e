"""Tests of `discreet.service.asking`."""
