"""The scenarios, a module for each group."""
