"""Microbenchmarks: one set of declarations and kernels for real and for modelled GPUs.

Read ``benchmark.py``, what a benchmark is; ``measures.py`` and ``blocks.py``, how clocks become
numbers; ``suite/``, the benchmarks; then ``simulate.py``, which runs them on a modelled GPU, and
``plan.py`` and ``export.py``, which write down what a real one needs (``fills.py``: what is in
buffers; ``driver/``: C++). ``kernels/`` has the CUDA sources, ``code.py`` and ``cubins/`` what they
were compiled to. ``table.py`` reads and writes the results, ``data/`` has measured ones,
``against.py`` compares them, ``report.py`` shows them; ``document.py`` writes the list of all.
"""
