"""The studies, one a file, each as ``STUDY``.

``OLD`` is the V100 as the simulator before Accel-Sim's has it, ``NEW`` as Accel-Sim does.
"""

OLD = "GPGPUSIM3_V100"
NEW = "QV100"
