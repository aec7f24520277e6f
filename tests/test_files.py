import os
import stat
import subprocess
import sys
import threading

import pytest

from lockstep.errors import InputError
from lockstep.files import replacing


def write(path, text):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_content_is_on_the_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    target, steps = tmp_path / "result.json", []
    target.write_text("old")

    def synchronised(descriptor):
        steps.append((os.pread(descriptor, 9, 0), target.read_text()))

    monkeypatch.setattr(os, "fsync", synchronised)
    write(target, "new")
    assert (steps, target.read_text()) == ([(b"new", "old")], "new")


def test_directories_are_made_and_the_file_is_readable_by_others(tmp_path):
    target = tmp_path / "a" / "b.txt"
    write(target, "new")
    assert target.read_text() == "new"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask


def test_the_file_behind_a_link_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "link", tmp_path / "far" / "target"
    link.symlink_to(target)
    for text in ("first", "second"):
        write(link, text)
        assert link.is_symlink() and target.read_text() == text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["far", "link"]


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join(10)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_has_a_name(tmp_path, redirected):
    code = (
        "from lockstep.files import replacing\n"
        "print('before')\n"
        "with replacing('/dev/stdout') as temporary:\n"
        "    temporary.write_text('there\\n')\n"
        "print('after')\n"
    )
    target = (tmp_path / "out").open("w+") if redirected else subprocess.PIPE
    done = subprocess.run([sys.executable, "-c", code], stdout=target, text=True, check=True)
    text = (tmp_path / "out").read_text() if redirected else done.stdout
    assert text == "before\nthere\nafter\n"


def test_an_unwritable_place_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/x\.json: cannot write: "):
        write(tmp_path / "file" / "x.json", "")
    (tmp_path / "directory").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "directory", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["directory", "file"]
