"""Coherence protocols carried out with values, apart from time.

``machine.py`` is a line, by the names of a table, with ``shadow.py``, which says what loads may
return; ``search.py`` tries all orders, ``tester.py`` random ones, ``litmus.py`` those of threads.
``runner.py`` is ``tester.py`` compiled, by numbers, of ``numbers.py``, ``ledger.py``,
``l1_runner.py`` and ``home_runner.py``.
"""
