"""Formats of files: what first bytes say, the form of text, and the records in it."""
