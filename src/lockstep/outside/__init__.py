"""Memory that another simulator models: what it hears of a GPU's requests, and what it answers.

``protocol.py``: requests, answers, and what a memory must offer; ``sockets.py``: a memory in
another process, and the frames that cross; ``sst/``: the component that joins a GPU to SST.
"""

from lockstep.outside.protocol import ANSWER, REQUEST, Interface, Kind, OutsideMemory

__all__ = ["ANSWER", "REQUEST", "Interface", "Kind", "OutsideMemory"]
