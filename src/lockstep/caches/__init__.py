"""Caches explored by streams of accesses, without the detail of SMs: many configurations at once."""
