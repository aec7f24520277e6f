"""Targets: tables of measurements, and results that are compared with them."""

import gzip
import json
import lzma
from collections.abc import Sequence

from fuzzing import mutations
from fuzzing.target import Target
from lockstep.correlation import correlate
from lockstep.correlation.comparison import Source
from lockstep.correlation.report import views
from lockstep.metrics import output
from lockstep.sampling import LaunchTable, imports

CYCLES, READS = "gpc__cycles_elapsed.max", "dram__sectors_read.sum"
NSIGHT = f"""\
==PROF== Connected to process 7
"ID","Process Name","Kernel Name","Grid Size","{CYCLES}","gpu__time_duration.sum","{READS}"
"","","","","cycle","usecond","Ksector"
"0","app","void scale<float, (int)4>(float *)","(4, 1, 1)","1,000","2.50","4"
"1","app","add(float *)","(2, 1, 1)","2,000","3","n/a"
"""
LONG = f"""\
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","_Z5scaleIfLi4EEvPT_i","Elapsed Cycles","cycle","1,000"
"0","_Z5scaleIfLi4EEvPT_i","{READS}","sector","64"
"1","add","{CYCLES}","cycle","2,000"
"""
NVPROF = """\
==7== Profiling result:
"Device","Kernel","Correlation_ID","elapsed_cycles_pm","dram_read_transactions"
"Tesla V100 (0)","scale(float*, int) [3]","113","80,000","640"
"Tesla V100 (0)","add(float*)","114","160000","0"
"""
SUMMARY = """\
"Device","Kernel","Invocations","Metric Name","Min","Max","Avg"
"V100 (0)","scale(float*)",2,"dram_read_transactions",600,680,640
"V100 (0)","add",1,"elapsed_cycles_pm",10,10,10
"""
NSYS = """\
Processing [app.sqlite] with [cuda_gpu_trace.py]...

Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),Strm,Name
100,900,110,,,,,,,,,7,[CUDA memcpy Host-to-Device]
2000,1500,112,2,1,1,128,1,1,16,0.000,7,add(float *)
1900,700,111,4,1,1,64,1,1,10,0.000,13,"void scale<float, (int)4>(float *)"
"""
LAUNCH_TRACE = """\
API Start (ns),API Dur (ns),Kernel Start (ns),Kernel Dur (us),DevId,GridXYZ,BlockXYZ,Kernel Name
5,1,20,1.5,0,   4    1    1,  64    1    1,"void scale<float, (int)4>(float *)"
7,1,30,2.5,0,   2    1    1, 128    1    1,add(float *)
"""
OURS = """\
program,size,launch,kernel,grid,block,cycles,dram__sectors_read.sum
app,s,0,scale,"(4, 1, 1)",128x1x1,1000,4
app,s,1,add,,,2000,7
"""
PROGRAMS = "suite,workload,hw_cycles\nx,app,100\nx,other,200\n"
_TEXTS = (NSIGHT, LONG, NVPROF, SUMMARY, NSYS, LAUNCH_TRACE, OURS, PROGRAMS)
TABLES = tuple(text.encode() for text in _TEXTS)
WORDS = (
    *("Kernel Name", "Kernel", "Name", "kernel", "program", "size", "Invocations", "Avg", "ID"),
    *("Metric Name", "Metric Value", "Duration", "Device", "cycles", CYCLES, READS, "n/a"),
    *(
        "Kernel Dur (ns)",
        "Duration (us)",
        "GridXYZ",
        "GrdX",
        "CorrId",
        "Strm",
        "Reg/Trd",
        "registers",
    ),
    *("==PROF==", "usecond", "Gbyte", ",", ",,", '"', "<", "<<", "(", "[CUDA memcpy", "_Z"),
)

WHOLE = {1: "_Z5scaleIfLi4EEvPT_i", 2: "add"}


def document(numbered: dict[int, str]) -> bytes:
    """A result of kernels by their numbers."""
    metrics = {CYCLES: 1100, READS: 5, "sm__cycles_active.sum": 40, "sm__cycles_active.avg": 4.0}
    metrics["gpu__time_duration.sum"] = 700
    return json.dumps(
        {
            "kernels": [
                {"id": n, "name": name, "cycles": 1100, "metrics": metrics}
                for n, name in numbered.items()
            ]
        }
    ).encode()


class _Comparison(Target):
    mutations = mutations.text(WORDS)

    def prepare(self, folder):
        """Write the other side."""
        super().prepare(folder)
        self.hardware = self.file(NSIGHT.encode(), "hardware.csv")
        self.result = self.file(document(WHOLE), "app.json")

    def compared(self, hardware, result: Source) -> object:
        """What comes out, and is printed."""
        found = correlate(hardware, result)
        cells = [str(view) for view in views(found, 3, 80) if isinstance(view, str)]
        return output.finite(found.to_dict()), cells


class HardwareTable(_Comparison):
    """A table of measurements, of any kind."""

    name = "hardware-table"

    def seeds(self) -> Sequence[bytes]:
        """One of each kind."""
        return TABLES

    def read(self, data: bytes) -> object:
        """The comparison with a result."""
        return self.compared(self.file(data, "table.csv"), self.result)


class PackedTable(_Comparison):
    """A compressed table; the first byte says how."""

    name = "hardware-packed"
    mutations = mutations.BINARY

    def seeds(self) -> Sequence[bytes]:
        """Both ways."""
        return [b"x" + lzma.compress(TABLES[0]), b"g" + gzip.compress(TABLES[0], mtime=0)]

    def read(self, data: bytes) -> object:
        """The comparison with a result."""
        suffix = ".gz" if data[:1] == b"g" else ".xz"
        return self.compared(self.file(data[1:], f"table.csv{suffix}"), self.result)


class ImportedTable(Target):
    """A table of measurements that becomes a launch table."""

    name = "launch-import"
    mutations = mutations.text(WORDS)

    def seeds(self) -> Sequence[bytes]:
        """All that have launches with times."""
        return [t.encode() for t in _TEXTS if t not in (PROGRAMS, LONG, SUMMARY, NVPROF)]

    def read(self, data: bytes) -> object:
        """The table, as it is written and read again."""
        table = imports.read(self.file(data, "table.csv"))
        path = self.folder / "launches.csv"
        table.write(path)
        again = LaunchTable.read(path)
        assert again.digest == table.digest
        return table.unit, table.source, table.frame.to_csv()


class ResultDocument(_Comparison):
    """What ``--json`` wrote."""

    name = "result-json"

    def seeds(self) -> Sequence[bytes]:
        """All launches of a run, and some."""
        return [document(WHOLE), document({2: "add"})[:-1] + b', "stopped": ""}']

    def read(self, data: bytes) -> object:
        """The comparison with measurements."""
        return self.compared(self.hardware, self.file(data, "app.json"))


class ResultFolder(_Comparison):
    """The table of kernels of ``--out``, as CSV."""

    name = "result-table"

    def seeds(self) -> Sequence[bytes]:
        """Two kernels."""
        head = f"id,name,title,grid,block,cycles,{CYCLES},{READS},limiter\n"
        rows = '1,_Z5scaleIfLi4EEvPT_i,scale,"(4, 1, 1)","(1, 1, 1)",1100,1100,5,warps\n'
        return [(head + rows + '2,add,add,"(2, 1, 1)","(1, 1, 1)",1500,1500,,warps\n').encode()]

    def read(self, data: bytes) -> object:
        """The comparison with measurements."""
        folder = self.folder / "out"
        folder.mkdir(exist_ok=True)
        (folder / "kernels.csv").write_bytes(data)
        return self.compared(self.hardware, folder)


TARGETS = (HardwareTable, PackedTable, ImportedTable, ResultDocument, ResultFolder)
