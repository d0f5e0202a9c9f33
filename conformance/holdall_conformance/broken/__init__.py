"""Backends that are wrong in one way each, to prove that the kit notices, and sound ones beside them.

Each can be seen to fail:

    holdall check holdall_conformance.broken.versions:LostUpdate.open_store
"""
