"""CUDA's runtime for device code (CDP2): what kernels ask of it, one thread at a time.

``tasks.py`` is what a grid leaves to be done after it; ``call.py`` a call of a function, with its
errors; ``launches.py``, ``streams.py``, ``copies.py`` and ``queries.py`` are the functions, and
``runtime.py`` finds them by their names.
"""
