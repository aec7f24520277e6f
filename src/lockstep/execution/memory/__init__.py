"""Device memory, and what describes parts of it: textures, tensor maps.

``device_memory.py`` gives out allocations of one reserved range (``mapping.py``,
``address_range.py``); ``storage.py`` is what launches borrow. ``textures.py`` and
``tensor_maps.py`` have descriptors, ``touched.py`` the lines that a launch touched.
"""
