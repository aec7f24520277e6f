"""Tables of profilers, and others: small ones whose launches are known."""

import gzip
import lzma

import pytest

from correlation.samples import LOADS, NSIGHT
from lockstep.correlation import read_hardware
from lockstep.correlation.csvfile import dimensions, number
from lockstep.correlation.launches import CYCLES, DURATION
from lockstep.errors import InputError

LONG = """\
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","scale","Elapsed Cycles","cycle","1,000"
"0","scale","Duration","ms","0.5"
"0","scale","Elapsed Cycles","cycle","9"
"0","scale","dram__bytes_write.sum","Mbyte","2"
"1","scale","gpc__cycles_elapsed.max","cycle","2,000"
"""
NVPROF = """\
==7== NVPROF is profiling process 7, command: ./app
==7== Profiling result:
"Device","Context","Stream","Kernel","Correlation_ID","elapsed_cycles_sm","achieved_occupancy",\
"dram_read_transactions","gld_efficiency"
"Tesla V100 (0)","1","7","scale(float*, int)","113","80,000","0.5","640","100.00%"
"Tesla V100 (0)","1","7","add(float*)","114","160000","0.25","0","50.00%"
"""
NVPROF_TIMES = """\
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Device","Name"
ms,us,,,,,,,,
1.5,2.5,,,,,,,"V100 (0)","[CUDA memcpy HtoD]"
2.5,3.5,4,1,1,128,1,1,"V100 (0)","scale(float*, int) [113]"
"""
NVPROF_SUMMARY = """\
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"V100 (0)","scale(float*)",2,"dram_read_transactions","Reads",600,680,640
"V100 (0)","scale(float*)",2,"inst_executed","Instructions",10,10,10
"""


def test_nsights_page_of_launches(file):
    scale, add = read_hardware(file(NSIGHT))
    assert scale.kernel == "void scale<float, (int)4>(float *, int)"
    assert scale.program == "app"
    assert (scale.number, add.number) == (1, 2)
    assert scale.grid == (4, 1, 1) and scale.block == ()
    assert scale.metrics[CYCLES] == 1000
    assert scale.metrics[DURATION] == 2500
    assert scale.metrics["dram__bytes_read.sum"] == 4000
    assert scale.metrics[LOADS] == 64
    assert LOADS not in add.metrics


def test_nsights_page_without_units(file):
    text = "ID,Kernel Name,smsp__cycles_elapsed.max,smsp__inst_executed.sum\n0,k,5,7\n"
    (launch,) = read_hardware(file(text))
    assert launch.metrics[CYCLES] == 5
    assert launch.metrics["sm__inst_executed.sum"] == 7


def test_the_counter_itself_goes_before_others_of_its_meaning(file):
    text = "ID,Kernel Name,sm__cycles_elapsed.max,gpc__cycles_elapsed.max\n0,k,5,7\n"
    assert read_hardware(file(text))[0].metrics[CYCLES] == 7


def test_nsights_page_of_metrics(file):
    first, second = read_hardware(file(LONG))
    assert first.metrics[CYCLES] == 1000
    assert first.metrics[DURATION] == 500_000
    assert first.metrics["dram__bytes_write.sum"] == 2e6
    assert second.metrics == {CYCLES: 2000}
    assert (first.number, second.number) == (1, 2)


def test_nvprofs_launches(file):
    scale, add = read_hardware(file(NVPROF))
    assert scale.kernel == "scale(float*, int)"
    assert scale.metrics == {
        "sm__cycles_elapsed.sum": 80_000,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 50,
        "dram__sectors_read.sum": 640,
    }
    assert add.number == 2


def test_nvprofs_times(file):
    (launch,) = read_hardware(file(NVPROF_TIMES))
    assert (launch.grid, launch.block) == ((4, 1, 1), (128, 1, 1))
    assert launch.metrics == {DURATION: 3500}


def test_nvprofs_summary_stands_for_all_launches(file):
    launches = read_hardware(file(NVPROF_SUMMARY))
    assert [launch.number for launch in launches] == [1, 2]
    assert all(launch.metrics["dram__sectors_read.sum"] == 640 for launch in launches)


def test_a_table_of_programs_and_launches(file):
    text = "program,size,launch,kernel,grid,Cycles,dram__sectors_read.sum,other\n"
    text += 'a,s,0,k,"(2, 3, 1)",10,4,9\na,s,1,k,4x1x1,20,,9\na,l,0,k,,30,1,9\n'
    first, second, third = read_hardware(file(text))
    assert first.metrics == {CYCLES: 10, "dram__sectors_read.sum": 4}
    assert (first.grid, second.grid, third.grid) == ((2, 3, 1), (4, 1, 1), ())
    assert [x.number for x in (first, second, third)] == [1, 2, 1]
    assert third.section == (("size", "l"),)
    (chosen,) = read_hardware(file(text), {"size": "l"})
    assert chosen.metrics[CYCLES] == 30


def test_a_table_of_programs_alone(file):
    launches = read_hardware(file("suite,workload,hw_cycles\nx,a,100\nx,b,200\n"))
    assert [(x.program, x.kernel, x.number) for x in launches] == [("a", "", 0), ("b", "", 0)]


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress)])
def test_compressed_tables(tmp_path, suffix, pack):
    path = tmp_path / f"table.csv{suffix}"
    path.write_bytes(pack(NSIGHT.encode()))
    assert len(read_hardware(path)) == 2
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError):
        read_hardware(path)
    path.write_bytes(b"what is this")
    with pytest.raises(InputError, match="cannot"):
        read_hardware(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("==PROF== nothing\n", "is empty"),
        ("a,b\n1,2\n", "names no program and no kernel"),
        ("kernel,b\n1,2\n", "no counter that lockstep knows"),
        ("kernel,cycles\n", "has no launch with a counter"),
        ("kernel,cycles\nk,fast\n", "has no launch with a counter"),
        ("kernel,cycles\nk,1,2\n", "line 2: 3 cells where the head has 2"),
        ('kernel,cycles\nk,"1\n', "line 2: not CSV"),
        ("Kernel Name,Metric Name\nk,m\n", "none called Metric Unit"),
        ("Device,Kernel,Invocations,Metric Name\n0,k,1,m\n", "has no columns Avg"),
        (NVPROF_SUMMARY.replace(",2,", ",-2,"), "Invocations = '-2'"),
        (NVPROF_SUMMARY.replace(",2,", ",2e9,"), "Invocations = '2e9'"),
        ("kernel,cycles\nk,\ud800".encode("utf-8", "surrogatepass"), "byte 16: not a text"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(tmp_path, text, problem):
    path = tmp_path / "damaged.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_hardware(path)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_conditions_that_nothing_meets_are_refused(file):
    path = file("kernel,size,cycles\nk,s,1\n")
    with pytest.raises(InputError, match="has no column pass"):
        read_hardware(path, {"pass": "A"})
    with pytest.raises(InputError, match="no row with size = l"):
        read_hardware(path, {"size": "l"})


def test_a_file_that_is_absent_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.csv: cannot read"):
        read_hardware(tmp_path / "absent.csv")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", 1234.5), ("-3", -3), ("1e3", 1000), (".5", 0.5), ("45.60%", 45.6), ("", None),
        ("nan", None), ("inf", None), ("1_000", None), ("0x10", None), ("1e400", None),
        ("9" * 70, None), ("٣", None), (",", None), ("1e999", None), ("12 GB/s", None),
    ],
)  # fmt: skip
def test_numbers(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "size"),
    [("(12, 1, 1)", (12, 1, 1)), ("264x1x2", (264, 1, 2)), ("7", (7, 1, 1)), ("4,5", (4, 5, 1)),
     ("", ()), ("(1, 2, 3, 4)", ()), ("wide", ()), ("1" * 11, ())],
)  # fmt: skip
def test_dimensions(text, size):
    assert dimensions(text) == size
