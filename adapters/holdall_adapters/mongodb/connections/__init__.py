"""Clients of MongoDB: how they are made, what they are doing, and what becomes of them when they are left."""
