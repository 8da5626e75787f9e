"""Formats of files: first bytes, the form of text, and the records in it."""
