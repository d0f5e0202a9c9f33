"""The conformance kit: proves that a backend keeps the contract of holdall."""
