"""Clients of AWS: those that are made here, those that the caller brings, and their requests."""
