"""Tests of joint mechanisms: k answers in one draw."""
