"""What a process knows of servers."""
