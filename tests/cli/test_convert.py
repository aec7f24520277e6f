from lockstep import api
from lockstep.report.census import census


def counts(path):
    return [
        (k.name, k.grid, c.ctas, c.warp_instructions, c.thread_instructions, c.opcodes)
        for k in api.load(path).kernels
        for c in [census(k)]
    ]


def test_there_and_back(call, trace, tmp_path):
    assert call("convert", trace, "text").exit_code == 0
    assert (tmp_path / "text" / "kernelslist.g").is_file()
    done = call("convert", "text", "back.lst")
    assert done.exit_code == 0
    assert "back.lst: 2 kernels" in done.stderr
    assert counts(tmp_path / "text") == counts(trace) == counts(tmp_path / "back.lst")


def test_bad_places_are_told_before_the_work(call, trace, tmp_path):
    (tmp_path / "file").write_text("")
    for target in ("file", "file/x.lst", "file/x"):
        done = call("convert", trace, target)
        assert done.exit_code == 2, target
        assert "cannot write" in done.stderr
    assert call("convert", "nothing.lst", "x.lst").exit_code == 2
