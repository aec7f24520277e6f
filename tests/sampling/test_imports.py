"""Launch tables of profilers' CSV files."""

import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.sampling import LaunchTable, imports
from lockstep.sampling.features import INSTRUCTIONS, PROFILE

SCALE = "void scale<float, (int)4>(float *)"
GPU_TRACE = f"""\
Generating SQLite file app.sqlite from app.nsys-rep
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),Strm,Name
100,900,110,,,,,,,,,7,[CUDA memcpy Host-to-Device]
2000,"1,500",112,2,1,1,128,1,1,16,0.000,7,add(float *)
1900,700,111,4,1,2,64,1,1,10,0.000,13,"{SCALE}"
"""
LAUNCH_TRACE = f"""\
API Start (ns),API Dur (ns),Kernel Start (ns),Kernel Dur (us),DevId,GridXYZ,BlockXYZ,Kernel Name
7,1,20,1.5,0,   2    1    1, 128    1    1,add(float *)
5,1,30,0.7,0,   4    1    2,  64    1    1,"{SCALE}"
"""
NVPROF = f"""\
==7== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Device","Stream","Name"
s,us,,,,,,,,,
0.1,0.7,4,1,2,64,1,1,"V100 (0)",7,"{SCALE} [12]"
0.2,9,,,,,,,"V100 (0)",7,"[CUDA memcpy DtoH]"
0.3,1.5,2,1,1,128,1,1,"V100 (0)",7,"add(float *) [13]"
"""
OURS = f"""\
model,index,name,grid,block,registers,shared_bytes,stream,ns
a,0,"{SCALE}",4x1x2,64x1x1,10,0,13,700
a,1,add(float *),2x1x1,128x1x1,16,32,7,1500
b,0,add(float *),9x1x1,32x1x1,16,0,7,42
"""


def _read(tmp_path, text, name="table.csv", **where):
    path = tmp_path / name
    path.write_text(text)
    return imports.read(path, where)


def _ncu(*counters, launches=2, units="", names=("add(float *)", SCALE)):
    """The wide form, with a number for each counter."""
    head = ",".join(["ID", "Kernel Name", "Block Size", "Grid Size", *counters])
    rows = [f",,,,{units}" + "," * (len(counters) - 1)] if units else []
    for k in range(launches):
        values = ",".join(str(100 * k + n) for n in range(1, len(counters) + 1))
        rows.append(f'{k},"{names[k % 2]}","(64, 1, 1)","(4, 1, 2)",{values}')
    return "\n".join([head, *rows, ""])


@pytest.mark.parametrize("text", [GPU_TRACE, LAUNCH_TRACE], ids=["gpu_trace", "kern_exec_trace"])
def test_nsight_systems(tmp_path, text):
    """Launches are in the order of the calls, not of their starts; copies are passed over."""
    table = _read(tmp_path, text)
    frame = table.frame
    assert (table.unit, table.source) == ("ns", "nsys")
    assert frame["name"].tolist() == [SCALE, "add(float *)"]
    assert table.times.tolist() == pytest.approx([700, 1500])
    assert frame[["grid_x", "grid_z", "block_x"]].to_numpy().tolist() == [[4, 2, 64], [2, 1, 128]]
    told = text is GPU_TRACE
    assert frame["registers"].tolist() == [10 * told, 16 * told]
    assert frame["stream"].tolist() == [13 * told, 7 * told]


def test_nvprof(tmp_path):
    table = _read(tmp_path, NVPROF)
    assert (table.unit, table.source, len(table)) == ("ns", "nvprof", 2)
    assert table.times.tolist() == pytest.approx([700, 1500])
    assert table.ctas().tolist() == [8, 2]
    assert table.frame["name"].tolist() == [SCALE, "add(float *)"]  # without the launch's number


def test_nsight_compute(tmp_path):
    text = _ncu("gpu__time_duration.sum", "launch__registers_per_thread", units="usecond")
    table = _read(tmp_path, text)
    assert (table.unit, table.source) == ("ns", "ncu")
    assert table.times.tolist() == [1000, 101_000]
    assert table.frame["registers"].tolist() == [2, 102] and table.ctas().tolist() == [8, 8]
    both = _read(tmp_path, _ncu("gpu__time_duration.sum", "gpc__cycles_elapsed.max"))
    assert both.unit == "cycles" and both.times.tolist() == [2, 102]


def test_nsight_compute_may_have_all_that_a_profile_has(tmp_path):
    atom, red = (f"smsp__inst_executed_op_global_{kind}.sum" for kind in ("atom", "red"))
    counters = [name for name in PROFILE if not name.startswith("sim__")]
    table = _read(tmp_path, _ncu("gpc__cycles_elapsed.max", *counters, atom, red))
    assert table.level == 1
    assert table.column("sim__inst_global_atomic.sum").tolist() == [25, 225]
    assert table.column(INSTRUCTIONS)[0] == 2 + counters.index(INSTRUCTIONS)


def test_the_long_form(tmp_path):
    head = (
        '"ID","Kernel Name","Grid Size","Block Size","Metric Name","Metric Unit","Metric Value"\n'
    )
    rows = [
        f'"{k}","add","(2, 1, 1)","(32, 1, 1)","{name}","cycle","1,{k}00"\n'
        for k in range(3)
        for name in ("gpc__cycles_elapsed.max", "sm__inst_executed.sum")
    ]
    table = _read(tmp_path, "==PROF== Connected\n" + head + "".join(rows))
    assert table.times.tolist() == [1000, 1100, 1200] and table.unit == "cycles"
    assert table.column(INSTRUCTIONS).tolist() == [1000, 1100, 1200]


def test_any_table_with_kernels_and_times(tmp_path):
    table = _read(tmp_path, OURS)
    frame = table.frame
    assert (len(table), table.unit, table.source) == (3, "ns", "table.csv")
    assert frame["range"].tolist() == ["a", "a", "b"]
    assert frame["shared_bytes"].tolist() == [0, 32, 0] and frame["stream"].tolist() == [13, 7, 7]
    assert _read(tmp_path, OURS, model="b").times.tolist() == [42]


def test_rows_of_any_table_are_in_the_order_of_launches(tmp_path):
    head, first, second, other = OURS.splitlines()
    table = _read(tmp_path, "\n".join([head, second, first, other, ""]).replace("index", "launch"))
    assert table.times.tolist() == [700, 1500, 42]
    assert table.frame["registers"].tolist() == [10, 16, 16]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_ncu("sm__cycles_active.avg"), "has no column of times: gpc__cycles_elapsed.max or gpu__"),
        (_ncu("gpc__cycles_elapsed.max", launches=0), "has no launches"),
        (OURS.replace("name", "what"), "has no column of kernels: kernel, kernel name, name"),
        (OURS.replace(",ns", ",x"), "no cycles and no counter that lockstep knows"),
        (OURS.replace("32,7,1500", "32,7,-"), r"launch 1 \(add\) has no time: cycles, ns"),
        (OURS.replace("32,7,1500", "32,7,0"), "launch 1: time is 0.0; expected a positive number"),
        (GPU_TRACE.replace("700", "soon"), "line 5: Duration .ns. = 'soon'; expected a number"),
        (GPU_TRACE.replace(",GrdX", ",x"), "has no columns GrdX, GrdY and GrdZ, nor GridXYZ"),
        (NVPROF.replace('"Duration"', '"Took"'), "no "),
        ("", "is empty"),
    ],
)
def test_what_is_missing_is_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        _read(tmp_path, text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("a.ncu-rep", "`ncu --import a.ncu-rep --csv --page raw > a.csv`"),
        ("b c.nsys-rep", "`nsys stats -r cuda_kern_exec_trace -f csv 'b c.nsys-rep' > 'b c.csv'`"),
    ],
)
def test_a_profilers_own_file_names_the_command_that_makes_a_table(name, command):
    with pytest.raises(InputError, match="a profiler's own file") as error:
        imports.read(name)
    assert command in str(error.value)


def test_times_are_merged_by_order_and_name(tmp_path):
    measured = _read(tmp_path, GPU_TRACE)
    scale = {"name": "_Z5scaleIfLi4EEvPT_", "grid_x": 4, "grid_z": 2, "block_x": 64}
    add = {"name": "add", "arguments": "@0", "grid_x": 2, "grid_z": 1, "block_x": 128}
    program = LaunchTable.of([scale, add])
    merged = imports.merge(program, measured)
    assert merged.times.tolist() == [700, 1500] and merged.digest == program.digest
    assert (merged.unit, merged.source) == ("ns", "nsys")
    more = LaunchTable.of([{"name": "add"}] * 3)
    with pytest.raises(LockstepError, match="program has 3 launches, and 2 were measured"):
        imports.merge(more, measured)
    other = LaunchTable.of([{"name": "add"}] * 2)
    with pytest.raises(LockstepError, match="launch 0 of the program is add, and scale<float,4> w"):
        imports.merge(other, measured)
    message = r"launch 1 of the program, add, has block \(64, 1, 1\), and \(128, 1, 1\) was meas"
    with pytest.raises(LockstepError, match=message):
        imports.merge(LaunchTable.of([scale, add | {"block_x": 64}]), measured)
    brief = _read(tmp_path, GPU_TRACE.replace(SCALE, "scale"))  # without template arguments
    assert imports.merge(program, brief).times.tolist() == [700, 1500]
    assert imports.merge(program, brief).frame["name"][0] == "_Z5scaleIfLi4EEvPT_"
    instance = _read(tmp_path, GPU_TRACE.replace("float, (int)4", "float, (int)2"))
    with pytest.raises(LockstepError, match="is scale<float,4>, and scale<float,2> was measured"):
        imports.merge(program, instance)
    unsized = _read(tmp_path, "kernel,ns\nscale,7\nadd,9\n")
    assert imports.merge(LaunchTable.of([{**scale, "name": "scale"}, add]), unsized).has_times
