"""Tests of `discreet.service.mcp`."""
