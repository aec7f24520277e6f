"""PTX lifted onto the lane builder: each opcode is a few lines in the file of its kind.

Read ``opcodes.py``, the table; ``lift.py``, what a function of an opcode is given; ``integer.py``
or another file of opcodes (``instructions.py`` lists them); then ``translate.py``, which makes a
program of a kernel with ``graph.py``, ``liveness.py``, ``layout.py`` and ``statics.py``, and
``check.py``, which refuses what cannot be executed. ``pressure.py`` with ``values.py`` and
``orders.py`` estimates registers.
"""
