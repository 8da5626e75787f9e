"""Foundations: numbers, arguments, messages and errors; nothing here knows of privacy."""
