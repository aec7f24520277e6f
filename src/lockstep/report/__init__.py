"""Views of a result: the terminal summary, the timeline, the page of HTML, the roofline.

``summary.py`` is the first to read: it puts tables of ``columns.py`` together, with the numbers of
``figures.py`` and the words of ``terms.py``. ``source.py``, ``advice.py``, ``time_line.py``,
``links.py`` and ``system.py`` show what only some results have. ``timeline.py`` is for Perfetto,
``page/`` the page of HTML, ``roofline.py`` what it and plots draw, ``pictures.py`` how plots are
written. ``compare.py``: runs beside each other; ``census.py``: the opcode mix of a workload;
``benchmark.py``: how fast the simulator is.
"""
