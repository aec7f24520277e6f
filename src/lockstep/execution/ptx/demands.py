"""What the directives of a kernel demand of its launches."""

import math

from lockstep.isa.instruction import MOST_CLUSTER_CTAS, MOST_THREADS
from lockstep.isa.ptx.syntax import Function


def demand(function: Function) -> str:
    """What a kernel's directives demand that no launch can have, "" if nothing."""
    threads = math.prod(function.directives.get("reqntid", ()))
    if threads > MOST_THREADS:
        return f"its .reqntid is {threads} threads; a GPU takes {MOST_THREADS}"
    ctas = math.prod(function.directives.get("reqnctapercluster", ()))
    if ctas > MOST_CLUSTER_CTAS:
        return f"its .reqnctapercluster is {ctas} CTAs; a GPU takes {MOST_CLUSTER_CTAS}"
    return ""
