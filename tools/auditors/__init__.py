"""Programs of others that try to refute privacy, run against every mechanism: `make auditors`."""
