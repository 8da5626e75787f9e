"""A discreet.toml of version 3d1894d, and what that version made of it."""
