"""What runs requests beside each other."""
