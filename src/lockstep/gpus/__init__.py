"""The GPU library: what a GPU is, the presets with their sources, and overrides.

``spec.py``, ``sm.py``, ``cu.py``, ``memory.py``, ``units.py``, ``modules.py``, ``host.py`` and
``ideal.py``: the parameters; ``library.py``: presets by name, and what changes them;
``datafile.py`` reads their files; ``fields.py``, ``ranges.py``, ``choices.py`` and ``check.py``
(with ``check_coherence.py`` and ``check_modules.py``) say what they may hold; ``reference.py``
writes the page about them. ``system.py`` and ``fabric.py``: several GPUs and what joins them;
``systems/`` has their presets. ``clock.py``: cycles as times.
"""
