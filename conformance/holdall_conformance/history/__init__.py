"""Histories of concurrent calls: recorded, checked for linearizability, shrunk and printed."""
