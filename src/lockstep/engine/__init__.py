"""The engine: drives the model's units through time, window by window.

``session.py``: what users of the engine call; ``simulation.py``: one run, with ``kernels.py`` and
``streams.py``, which feed it, ``stop.py``, which ends it, and ``account.py``, which records it;
``machine.py`` (built in ``building.py``) and ``windows.py``: a GPU's state and the loop of its
threads (``threads.py``).
``ranks.py``, ``part.py``, ``packets.py`` and ``transport.py``: several machines for one GPU;
``nearby.py`` and ``boxes.py``: those of one host, which share memory.
``system.py``: several GPUs at one host, in step; ``outside.py``: memory in another simulator.
``checkpoint.py``, with ``rows.py``, ``readings.py`` and ``deferral.py``: what is kept;
``beginning.py``: where a run begins.
``watchdog.py``, ``record.py``: what is said when nothing moves, what comes out.
``compilation.py``: machine code before the clock starts.
"""

from lockstep.engine.session import Session, run

__all__ = ["Session", "run"]
