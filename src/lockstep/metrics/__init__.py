"""What a run says: one registry of metrics, and the Result that carries them.

``metric.py``: what a metric is; ``registry.py``: all of them, from ``execution.py``,
``sm_memory.py``, ``crossbar.py``, ``l2.py``, ``dram.py``, ``compute_unit.py``, ``modules.py``,
``flops.py`` and ``speed_of_light.py`` over ``facts.py``; ``aliases.py``: what others call them.
``result.py``: what users get, with ``manifest.py``, ``output.py`` and ``notebook.py``; ``host.py``,
``source.py`` and ``system.py``: its parts that only some runs have. ``document.py`` writes the page
about metrics.
"""
