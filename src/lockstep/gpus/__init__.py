"""The GPU library: what a GPU is, the presets with their sources, and overrides."""
