"""Foundations: numbers, arguments, messages and errors, without any knowledge of privacy."""
