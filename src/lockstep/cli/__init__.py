"""The ``lockstep`` command: one file a subcommand, found by ``main.py``.

``options.py`` and ``parameters.py`` have what several subcommands share, ``outputs.py`` what they
write and show at a run's end, ``console.py`` where tables go, ``signals.py`` how a run ends early.
``simulate.py`` is the plainest that simulates; ``run.py`` hands CUDA programs to
``application.py``, and others to ``programs.py``. What ``doctor.py`` looks at is in
``diagnosis/``.
"""
