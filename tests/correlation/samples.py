"""Measurements and launches that several tests begin with."""

from lockstep.correlation import Launch
from lockstep.correlation.launches import CYCLES

LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

NSIGHT = """\
==PROF== Connected to process 7
a line of the program, with "a quotation mark
"ID","Process Name","Kernel Name","Grid Size","gpc__cycles_elapsed.max","gpu__time_duration.sum",\
"dram__bytes_read.sum","launch__occupancy_limit_warps","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
"","","","","cycle","usecond","Kbyte","block","sector"
"0","app","void scale<float, (int)4>(float *, int)","(4, 1, 1)","1,000","2.50","4","8","64"
"1","app","add(float *)","(2, 1, 1)","2,000","3","1.5","8","n/a"
==PROF== Disconnected from process 7
"""


def launch(kernel, cycles=100.0, number=1, program="app", **more):
    return Launch(program, kernel, number, {CYCLES: cycles}, **more)
