"""Our own trace format: one compact file, checksummed, with random access by kernel and CTA."""

from lockstep.frontend.tracefile.reader import load, read_cta
from lockstep.frontend.tracefile.recording import TraceRecording
from lockstep.frontend.tracefile.writer import write

__all__ = ["TraceRecording", "load", "read_cta", "write"]
