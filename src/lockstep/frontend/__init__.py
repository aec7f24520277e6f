"""Where workloads come from. A front end knows nothing of time.

``accelsim/`` and ``tracefile/`` read and write traces, ``proxy/`` makes workloads of models,
``cuda/`` has the calls of CUDA programs and the library that intercepts them. What executes kernels
has a room of its own.
"""
