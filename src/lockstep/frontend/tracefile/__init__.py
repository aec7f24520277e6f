"""Our own trace format: one compact file, checksummed, with random access by kernel and CTA.

docs/trace-format.md describes it. ``reader.py`` and ``writer.py`` are what is called;
``container.py`` is the file, ``index.py`` its last section (with ``codes.py`` and ``points.py``),
``chunk.py`` and ``build.py`` are CTAs, of ``columns.py``, ``shapes.py``, ``rows.py`` and
``walk.py``. ``survey.py`` and ``grid.py`` predict addresses, ``recording.py`` writes while kernels
run.
"""

from lockstep.frontend.tracefile.reader import load, read_cta
from lockstep.frontend.tracefile.recording import TraceRecording
from lockstep.frontend.tracefile.writer import write

__all__ = ["TraceRecording", "load", "read_cta", "write"]
