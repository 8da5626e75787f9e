"""Tests of `discreet.service.http`."""
