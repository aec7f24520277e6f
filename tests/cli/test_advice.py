"""``--advice``, ``--what-if`` and ``--lift``."""

import json

import pytest

SMALL = ("--set", "sm.count=4", "--set", "dram.channels=2")
NAIVE = ("run", "transpose_naive", "--size", "96", *SMALL)


def test_a_program_is_told_why_it_is_slow(call, tmp_path):
    done = call(*NAIVE, "--advice", "--json", "r.json", "--report", "r.html")
    assert done.exit_code == 0, done.output
    assert "Uncoalesced accesses in transpose_naive" in done.stdout
    assert "Most of it: transpose_naive.cu:8" in done.stdout and "Estimated: " in done.stdout
    advice = json.loads((tmp_path / "r.json").read_text())["advice"]
    item = next(i for i in advice["items"] if i["rule"] == "uncoalesced")
    assert (item["line"], item["simulated"], advice["what_if"]) == (8, None, [])
    assert {e["name"]: e["value"] for e in item["evidence"]}["sectors a request"] == 32


def test_a_program_is_simulated_without_its_limits(call, tmp_path):
    done = call(*NAIVE, "--what-if", "--json", "r.json")
    assert done.exit_code == 0, done.output
    assert "Simulated without coalescing as a limit" in done.stdout
    advice = json.loads((tmp_path / "r.json").read_text())["advice"]
    item = next(i for i in advice["items"] if i["rule"] == "uncoalesced")
    assert item["simulated"] > 1 and not list(tmp_path.glob("*.lst"))


def test_a_trace_is_simulated_without_chosen_limits(call, trace, tmp_path):
    for threads in (1, 2):
        done = call("simulate", trace, *SMALL, "--lift", "launch,shared-banks", "--json",
                    f"{threads}.json", "--threads", threads, "-q")  # fmt: skip
        assert done.exit_code == 0, done.output
    one, two = (json.loads((tmp_path / f"{n}.json").read_text())["advice"] for n in (1, 2))
    runs = [p for p in one["what_if"] if not p["kernel"]]
    assert [p["lift"] for p in runs] == ["launch", "shared_banks"] and one == two
    assert runs[0]["speedup"] > 2 and runs[1]["speedup"] == 1


def test_a_recorded_trace_is_what_is_simulated_again(call, tmp_path):
    done = call(*NAIVE, "--lift", "launch", "--record", "kept.lst", "-q")
    assert done.exit_code == 0 and (tmp_path / "kept.lst").exists()


def test_a_full_summary_hints_at_advice(call, trace):
    assert "--advice tells more." in call("simulate", trace, *SMALL).stdout
    assert "--advice" not in call("simulate", trace, *SMALL, "--summary", "short").stdout


def test_an_opencl_kernel_is_advised(call, repository):
    path = repository / "examples" / "southern-islands" / "kernels" / "collatz.bin"
    given = ("--arg", "zeros:u4[256]", "--arg", "zeros:u4[256]")
    done = call("opencl", path, "collatz", "--global", "256", "--local", "64", *given,
                "--timing", "--advice")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Small grid in collatz" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "{trace}", "--lift", "bank"), "no limit is named 'bank'"),
        (("simulate", "{trace}", "--what-if", "--limit-cycles", "9"), "without --limit-cycles"),
        ((*NAIVE, "--what-if", "--record", "folder"), "--record folder.lst"),
        ((*NAIVE, "--advice", "--timing", "none"), "need --timing"),
        ((*NAIVE, "--what-if", "--timing", "sample:2"), "--timing full"),
    ],
)
def test_what_cannot_be_is_told(call, trace, arguments, message):
    done = call(*(trace if a == "{trace}" else a for a in arguments))
    assert done.exit_code == 2 and message in done.stderr, done.output
