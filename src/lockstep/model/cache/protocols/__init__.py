"""Cache protocols: what an access, an eviction, a fill and a probe make of a line.

A protocol is a file of short functions, its *hooks*, over the record of a way. The caches find
lines, wait, and send (``model/cache/l1.py``, ``model/cache/l2.py``); what the state of a line means
is the protocol's. A GPU's file names one for each level; the name is a number in the cache's spec,
so that all are compiled and none is a type. Read ``registry.py``: the names, and which hooks a
level calls; then the protocols of L1s, ``write_through.py`` and ``write_evict.py``, and of an L2,
``write_validate.py`` and ``write_fetch.py``; then ``at_l1.py`` and ``at_l2.py``, which choose by
number.

Masks have a bit a sector. Hooks of an L1 that say False give the line up, unless it waits for data.

| hook | of | when |
| --- | --- | --- |
| ``readable(way)`` | both | a read or an atomic: the sectors that are a hit |
| ``write(way, sectors, full)`` | both | they are written; an L1 adds ``local``: unseen by others |
| ``atomic(way, sectors)`` | both | sectors are updated: below an L1, in an L2 |
| ``fill(way, sectors)`` | both | data from below; of an L2: the sectors that merge with writes |
| ``probe(way, sectors)`` | both | somebody else writes these sectors |
| ``written(way)`` | L2 | a write: the sectors that are a hit |
| ``wanted(way, sectors)`` | L2 | ... and those that must be fetched for it |
| ``owed(way)`` | L2 | eviction: the sectors that go below first |
| ``paid(way, sectors)`` | L2 | ... and these have gone |

What a way holds is a record that ``tags.build`` is told (here ``tags.HELD``): a protocol with
states of its own brings another one, with the same fields and more. A line is in transition while
its way is locked (``pending``: for which sectors), or while it has an MSHR entry.
"""
