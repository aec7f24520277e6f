"""Device memory, and what describes parts of it: textures, tensor maps.

``device_memory.py`` gives out allocations of one reserved range (``mapping.py``); ``storage.py`` is
what launches borrow.
"""
