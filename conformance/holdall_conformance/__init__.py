"""The conformance kit: scenarios that prove what a backend promises."""
