"""The ways to a server: connections made, bounded, pooled, and lent by the caller."""
