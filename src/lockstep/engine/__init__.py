"""The engine: drives the model's shards through time, window by window."""

from lockstep.engine.simulation import run

__all__ = ["run"]
