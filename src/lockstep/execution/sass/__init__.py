"""Machine code (SASS) lifted onto the lane builder, as PTX is in the room beside.

Read ``opcodes.py``, the table; ``lift.py``; ``integer.py`` or another file of opcodes
(``instructions.py`` lists them); then ``source.py`` and ``reach.py``, the code that a kernel may
enter, and ``translate.py``, which makes a program of it with ``graph.py`` and ``statics.py``.
"""
