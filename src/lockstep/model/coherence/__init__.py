"""Coherence protocols as tables: what L1s and the homes of lines do, for each state and event.

Read a protocol first, ``protocols/si.toml`` is the plainest, then ``table.py``, which says what its
entries mean, and ``vocabulary.py``, which has their words. ``check.py`` finds what is missing or
contradicts itself, ``library.py`` reads those that are there, ``arrays.py`` makes numbers of them
for compiled code, ``document.py`` a page for the documentation. What carries them out, apart from
time, is ``tests/coherence_twin``; in time, for compute units, ``l1.py`` and ``home.py`` here, by
``rules.py`` over ``lines.py``, ``l1_lines.py`` and ``home_lines.py``; ``rest.py``: what is done
between kernels.
"""
