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


def test_nsights_launches_of_a_process_are_in_the_order_of_their_ids(file):
    head, units, first, second = NSIGHT.splitlines()[2:6]
    launches = read_hardware(file("\n".join([head, units, second, first, ""])))
    assert [(x.number, x.metrics[CYCLES]) for x in launches] == [(1, 1000), (2, 2000)]
    head, *rows = LONG.splitlines()
    first, second = read_hardware(file("\n".join([head, rows[-1], *rows[:-1], ""])))
    assert (first.metrics[CYCLES], second.metrics[CYCLES]) == (1000, 2000)


def test_nsights_launches_of_processes_are_apart(file):
    text = "ID,Process ID,Process Name,Kernel Name,gpc__cycles_elapsed.max\n"
    text += "1,7,app,k,2\n0,7,app,k,1\n0,8,app,k,3\n"
    launches = read_hardware(file(text))
    assert [(x.number, x.metrics[CYCLES]) for x in launches] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("unit", "value"),
    [("MB", 4e6), ("KiB", 4096), ("byte", 4), ("Gbyte", 4e9)],
)
def test_nsights_units(file, unit, value):
    scale, _ = read_hardware(file(NSIGHT.replace("Kbyte", unit)))
    assert scale.metrics["dram__bytes_read.sum"] == value


def test_what_is_in_an_unknown_unit_is_refused_where_it_is_used(file):
    with pytest.raises(InputError, match=r"line 4: dram__bytes_read.sum is in 'Gb', which is no"):
        read_hardware(file(NSIGHT.replace("Kbyte", "Gb")))
    with pytest.raises(InputError, match=r"line 4: gpu__time_duration.sum is in 'cycle'"):
        read_hardware(file(NSIGHT.replace("usecond", "cycle")))
    with pytest.raises(InputError, match=r"line 3: Duration is in 'fortnight'"):
        read_hardware(file(LONG.replace('"ms"', '"fortnight"')))
    scale, _ = read_hardware(file(NSIGHT.replace("Kbyte", "Gb").replace("_read.", "_other.")))
    assert scale.metrics[CYCLES] == 1000 and "dram__bytes_other.sum" not in scale.metrics


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (NSIGHT.replace('"2.50"', '"2,50"'), "line 5: gpu__time_duration.sum = '2,50'"),
        (NSIGHT.replace('"1,000"', '"1\u202f000"'), "line 5: gpc__cycles_elapsed.max = '1"),
        (LONG.replace('"0.5"', '"0,5"'), "line 3: Duration = '0,5'"),
        (NVPROF.replace('"0.5"', '"0,5"'), "line 4: achieved_occupancy = '0,5'"),
        ('kernel,cycles\nk,"12,5"\n', "line 2: cycles = '12,5'"),
        ("kernel,cycles\nk,1.234.567\n", "line 2: cycles = '1.234.567'"),
    ],
)
def test_numbers_of_other_languages_are_refused(file, text, where):
    with pytest.raises(InputError) as error:
        read_hardware(file(text))
    assert where in str(error.value) and "LC_ALL=C" in str(error.value)


def test_cells_that_nobody_counts_may_be_any(file):
    scale, _ = read_hardware(
        file(NSIGHT.replace("dram__bytes_read", "other__counter").replace('"4"', '"1,2"'))
    )
    assert scale.metrics[CYCLES] == 1000 and "other__counter.sum" not in scale.metrics


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


def test_nvprofs_summary_of_events_and_metrics(file):
    events = NVPROF_SUMMARY.replace("Metric Name", "Event Name")
    events = events.replace("dram_read_transactions", "elapsed_cycles_sm")
    events = "".join(line for line in events.splitlines(True) if "inst_executed" not in line)
    both = "==1== Event result:\n" + events + "==1== Metric result:\n" + NVPROF_SUMMARY
    for where in ({}, {"Kernel": "scale(float*)"}):
        launches = read_hardware(file(both), where)
        assert len(launches) == 2
        assert launches[0].metrics == {
            "sm__cycles_elapsed.sum": 640,
            "dram__sectors_read.sum": 640,
            "sm__inst_executed.sum": 10,
        }


def test_nvprofs_unknown_units_are_refused_where_they_are_used(file):
    with pytest.raises(InputError, match="line 2: Duration is in 'hours'"):
        read_hardware(file(NVPROF_TIMES.replace("ms,us", "ms,hours")))
    assert read_hardware(file(NVPROF_TIMES.replace("ms,us", "Hours,us")))[0].number == 1


def test_launches_of_a_table_have_the_numbers_that_it_says(file):
    text = "program,launch,kernel,cycles\na,4,k,40\na,2,other,20\nb,0,k,7\na,3,k,30\n"
    launches = read_hardware(file(text))
    said = [(x.program, x.kernel, x.number, x.metrics[CYCLES]) for x in launches]
    assert said == [("a", "other", 3, 20), ("a", "k", 4, 30), ("b", "k", 1, 7), ("a", "k", 5, 40)]
    from_one = read_hardware(file(text.replace("b,0", "b,1")))
    assert [x.number for x in from_one] == [2, 3, 1, 4]


def test_launches_may_be_counted_in_each_kernel(file):
    text = "kernel,launch,cycles\nk,2,20\nother,1,7\nk,1,10\n"
    launches = read_hardware(file(text))
    assert [(x.kernel, x.metrics[CYCLES]) for x in launches] == [("k", 10), ("other", 7), ("k", 20)]
    assert [x.number for x in launches] == [1, 2, 3]
    with pytest.raises(InputError, match="line 2: launch 3 of k, but none is its launch 2"):
        read_hardware(file(text.replace("k,2", "k,3")))


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("first", "line 3: launch = 'first'; expected the number of a launch"),
        ("-1", "line 3: launch = '-1'"),
        ("1.5", "line 3: launch = '1.5'"),
        ("", "line 3: launch = ''"),
        ("0", "line 3: launch 0 of k is on line 2, too; delete one of them"),
    ],
)
def test_launches_that_have_no_number_of_their_own_are_refused(file, cell, problem):
    with pytest.raises(InputError) as error:
        read_hardware(file(f"kernel,launch,cycles\nk,0,10\nk,{cell},20\n"))
    assert problem in str(error.value)


def test_other_columns_may_be_no_numbers_of_launches(file):
    launches = read_hardware(file("kernel,id,cycles\nk,b,10\nk,a,20\n"))
    assert [x.metrics[CYCLES] for x in launches] == [10, 20]


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
        ("12,5", None), ("1,2,3", None), ("0,004", None), ("1,2345", None), ("1234,567", None),
        ("1,234,567", 1234567), ("-1,234", -1234),
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
