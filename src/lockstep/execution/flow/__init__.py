"""Control flow of any instruction set: blocks, the order in which they run, liveness, loops.

A front end says how its instructions branch (it makes the blocks of ``blocks.py``), what they read
and write, and which of them wait for others; the rest is here.
"""
