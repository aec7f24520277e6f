"""What turns the model's functions into object code, with Numba; imported only for that.

Private facts of Numba are used here and nowhere else, and ``tests/_jit`` pins them. ``entries.py``
compiles what Python calls, ``parts.py`` what compiled code calls, ``policies.py`` the user's;
``types.py`` and ``intrinsics.py`` tell Numba what kinds and intrinsics are.
"""
