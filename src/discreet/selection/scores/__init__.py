"""Scores that need no table: given, of one's own, and distances."""
