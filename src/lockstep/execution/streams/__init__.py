"""What blocks write while they run, and the CTAs that the timing model reads from it.

``buffers.py`` is where they write, ``stream.py`` reads it, ``written.py`` hands it on as it is,
``journal.py`` keeps what was executed at issue until it can be recorded.
"""
