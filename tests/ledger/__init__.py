"""Tests of `discreet.ledger`."""
