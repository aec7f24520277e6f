"""Southern Islands code, lifted onto lanes of 64.

``arithmetic.py`` first: what an operation is. ``vector.py`` and ``scalar.py`` have the tables of
all of them by LLVM's mnemonic; the other files are their parts: ``integer.py``, ``bits.py``,
``bytes.py``, ``floating.py``, ``double.py``, ``division.py``, ``elementary.py``, ``cube.py``,
``convert.py`` and ``compare.py``. ``modifiers.py`` is what VOP3 does to operands and results.
"""
