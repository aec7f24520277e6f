"""Views of a result: the terminal summary, the timeline, the page of HTML, the roofline.

``page/`` makes the page; ``census.py`` the opcode mix of a workload.
"""
