"""Southern Islands machine code: instructions lifted onto lanes of 64.

A wavefront is one vector of 64 lanes, and all of them share one pc: EXEC is data. Read
``source.py``, ``registers.py``, ``lift.py`` and ``graph.py`` first, then ``translate.py``; the
instructions are in ``control.py``, ``moves.py``, ``masks.py``, ``scalar_memory.py``,
``descriptors.py``, ``buffers.py``, ``lds.py`` and ``compute.py``.

``compute.py`` finds the operands of arithmetic: ``arithmetic.py`` says what an operation is.
``vector.py`` and ``scalar.py`` have the tables of all of them by LLVM's mnemonic; the other files
are their parts: ``integer.py``, ``bits.py``, ``packed.py``, ``floating.py``, ``double.py``,
``exponents.py``, ``division.py``, ``elementary.py``, ``reduction.py``, ``cube.py``, ``convert.py``,
``compare.py`` and ``quads.py``. ``modifiers.py`` is what VOP3 does to operands and results.
"""
