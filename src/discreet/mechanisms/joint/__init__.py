"""Mechanisms that draw several answers at once, from all lists or tuples of them."""
