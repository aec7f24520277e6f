"""GPUs of several modules: links between chips, and whose memory has a page.

In this order: ``routes`` (which link a message takes next), ``legs`` (how long the parts of its way
are), ``state`` (records), ``gate`` (where SMs and partitions meet a module's router), ``router``
(the phase of the modules), ``pages`` (homes of pages by first touch).
"""
