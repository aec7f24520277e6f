"""Advice: why a program is slow, and what it would gain. See docs/advice.md.

To read in this order: ``rule.py``, what a rule is and what it says; ``observation.py``, what it
looks at; ``rules/``, one file a rule, listed in ``rules/__init__.py``; ``advise.py``, all rules
on a result; ``lifts.py``, the limits of a GPU that can be lifted, and ``what_if.py``, which
simulates the program without them.
"""
