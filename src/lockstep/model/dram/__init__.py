"""DRAM: a controller for each channel, and the timing of its standard.

Read ``state.py``, then a request's way: ``address_map.py``, ``queue.py``, ``scheduler.py``,
``controller.py``, with ``timing.py`` and ``refresh.py``. ``standard.py`` reads the tables of
``standards/``; ``build.py`` makes the state from a GPU's parameters.
"""
