"""What the adapters on services of AWS share: clients, errors, and the estimate of the server's clock."""
