"""Tests of `discreet.service.queue`."""
