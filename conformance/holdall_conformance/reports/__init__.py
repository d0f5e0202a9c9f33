"""The reports on a run of the kit, a module for each form."""
