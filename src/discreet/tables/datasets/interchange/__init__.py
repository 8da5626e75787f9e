"""Descriptions in the words of others: Frictionless Table Schema, and metadata of SmartNoise and Lomas."""
