import json


def test_bench_measures_each_trace_in_a_process(call, trace, tmp_path):
    (tmp_path / "reference.csv").write_text(
        "trace,config,user_seconds\ngen:tiny,SM7_QV100,1000\ngen:tiny,SM1_OTHER,5\n"
    )
    done = call("bench", trace, "--reference", "reference.csv", "--json", "b.json")
    assert done.exit_code == 0, done.stderr
    assert "geometric mean" in done.stdout and "tiny" in done.stdout
    [row] = json.loads((tmp_path / "b.json").read_text())
    assert row["gpu"] == "QV100"
    assert row["warp_instructions"] == 112
    assert row["reference_seconds"] == 1000
    assert row["speedup"] == 1000 / row["simulate_seconds"]
    assert row["peak_rss_mb"] > 10


def test_a_bad_trace_is_named(call):
    done = call("bench", "nothing.traceg")
    assert done.exit_code == 2
    expected = "lockstep: nothing.traceg: there is no such file or directory"
    assert done.stderr.splitlines()[-1] == expected
