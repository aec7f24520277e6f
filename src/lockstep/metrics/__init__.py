"""What a run says: one registry of metrics, and the Result that carries them."""
