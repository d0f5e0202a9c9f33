"""What several adapters need of an event loop."""
