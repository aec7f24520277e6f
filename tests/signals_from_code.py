"""Machine code during which a signal comes, right before it calls Python."""

import signal

from lockstep._jit.loading import Loaded
from lockstep.execution.programs.native import assemble

TEXT = """
declare i32 @raise(i32)
declare i64 @python(ptr, i32)
define i64 @interrupted(ptr %first, i32 %second) {{
  %done = call i32 @raise(i32 {number})
  %result = call i64 @python(ptr %first, i32 %second)
  ret i64 %result
}}
"""


class Interrupted:
    """A function as that at an address, of a pointer and an i32, during which a signal comes."""

    def __init__(self, address, number=signal.SIGINT):
        code = assemble(TEXT.format(number=int(number)))
        self._loaded = Loaded(code, ["interrupted"], {"python": address})
        self.address = self._loaded.address("interrupted")
