"""A launch from its start to its end, at once (``launch.py``) or as the timing model asks.

``geometry.py`` is the shape of a launch, ``resident.py`` the memory of CTAs that run together,
``step.py`` and ``at_issue.py`` run blocks one at a time, ``services.py`` does what kernels ask of
the host, ``faults.py`` tells what ended a launch.
"""
