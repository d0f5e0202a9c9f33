"""The adapters that come with holdall: one sub-package a backend."""
