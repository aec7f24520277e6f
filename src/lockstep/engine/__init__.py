"""The engine: drives the model's shards through time, window by window."""

from lockstep.engine.session import Session, run

__all__ = ["Session", "run"]
