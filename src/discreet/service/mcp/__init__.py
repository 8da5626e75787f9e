"""Tools of an assistant."""
