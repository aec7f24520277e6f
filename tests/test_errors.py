"""Messages of errors are fit for a terminal, whatever is in the files that they quote."""

import pickle

from lockstep.errors import InputError, LockstepError


def test_control_characters_are_escaped():
    error = InputError("k.ptx", "line 1", "no opcode \x1b[31mred\x07\u202e\ud800")
    assert str(error) == r"k.ptx, line 1: no opcode \x1b[31mred\x07\u202e\ud800"
    assert str(LockstepError("a compiler's\n\tlog")) == "a compiler's\n\tlog"


def test_what_is_wrong_with_a_file_is_one_line():
    error = InputError("k.cubin", "section a\nb", "no \tway")
    assert str(error) == r"k.cubin, section a\nb: no \tway"


def test_endless_words_are_cut():
    assert str(LockstepError(f"no opcode {'ld' * 30000} here")) == f"no opcode {'ld' * 100}... here"
    name = "x" * 400
    assert str(LockstepError(name)) == name


def test_errors_of_files_survive_pickling():
    error = pickle.loads(pickle.dumps(InputError("k.ptx", "line 1", "\x1b")))
    assert (error.path, error.where, error.message) == ("k.ptx", "line 1", "\x1b")
