"""lockstep."""
