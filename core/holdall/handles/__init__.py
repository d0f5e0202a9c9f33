"""The handles that users hold: checks, encoding, retries and observation in front of a driver."""
