"""What a run says: one registry of metrics, and the Result that carries them.

``metric.py``: what a metric is; ``registry.py``: all of them, from ``execution.py``,
``sm_memory.py``, ``device_memory.py`` and ``speed_of_light.py`` over ``facts.py``; ``result.py``:
what users get, with ``manifest.py``, ``output.py`` and ``notebook.py``; ``document.py`` writes the
page about them.
"""
