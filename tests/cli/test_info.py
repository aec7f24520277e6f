def test_info_says_what_is_in_a_trace(call, trace):
    done = call("info", trace)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tiny: 2 kernels, 0 copies")
    assert lines[1] == "112 warp instructions, 3,584 thread instructions"
    assert any(line.split()[:4] == ["1", "first", "4", "64"] for line in lines)
    opcodes = {line.split()[0]: line.split()[1] for line in lines if "█" in line}
    assert opcodes == {"LDG": "48", "FFMA": "48", "EXIT": "16"}


def test_a_missing_trace_is_bad_input(call):
    done = call("info", "nothing")
    assert done.exit_code == 2
    assert done.stderr.startswith("lockstep: nothing: ")
