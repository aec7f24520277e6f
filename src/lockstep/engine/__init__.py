"""The engine: drives the model's units through time, window by window.

``session.py``: what users of the engine call; ``simulation.py``: one run of ``commands.py``, with
``kernels.py`` (``running.py``: one of them), ``code_arena.py``, ``parts_of_grids.py``,
``streams.py`` and ``rings.py``, which feed it, ``preparation.py``, which does to caches what takes
no time, ``stop.py`` and ``dropping.py``, which end it, ``progress.py``, which tells of it, and
``account.py``, which records it; ``attributed.py``: by instruction.
``machine.py`` (built in ``building.py`` of ``groups.py``) and ``windows.py``: a GPU's state and the
loop of its threads (``threads.py``). ``host/``: the host in time.
``ranks.py``, ``part.py``, ``packets.py`` and ``transport.py`` (``mpi.py``): several machines for
one GPU; ``nearby.py`` and ``boxes.py``: those of one host, which share memory.
``system.py``: several GPUs at one host, in step; ``outside.py``: memory in another simulator.
``checkpoint.py``, with ``rows.py``, ``readings.py`` and ``deferral.py``: what is kept;
``beginning.py``: where a run begins.
``watchdog.py``, ``protocol_waits.py``, ``record.py``: what is said when nothing moves, what comes
out. ``compilation.py``: machine code before the clock starts.
"""

from lockstep.engine.session import Drive, Session, run

__all__ = ["Drive", "Session", "run"]
