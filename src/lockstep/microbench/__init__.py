"""Microbenchmarks: one set of declarations and kernels for real and for modelled GPUs.

Read ``benchmark.py``, what a benchmark is; ``measures.py``, how clocks become numbers; ``suite/``,
the benchmarks; then ``simulate.py``, which runs them on a modelled GPU, and ``plan.py`` and
``export.py``, which write down what a real one needs. ``kernels/`` has the CUDA sources and
``cubins/`` what they were compiled to. ``table.py`` reads and writes the results, ``against.py``
compares them.
"""
