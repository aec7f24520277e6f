"""How services are called: registers, the stack, scratch words."""

from lockstep.execution.programs.services import QUEUES, SERVICES, TABLE, Home


def homes(name):
    return [home.register if home.offset == 0 else home for home in TABLE[name].homes]


def test_arguments_are_in_registers_as_code_of_nvcc_13_has_them():
    assert homes("vprintf") == [4, 6]
    assert homes("__assertfail") == [4, 6, 8, 10, 12]
    assert homes("__cudaCDP2GetParameterBufferV2") == [4, 6, 9, 12]  # structures begin anywhere
    assert homes("__cudaCDP2Memset2DAsync") == [4, 6, 8, 10, 12, 14]


def test_what_has_no_room_is_on_the_stack():
    assert homes("__cudaCDP2LaunchDevice") == [4, 6, 8, 11, 14, None]
    assert homes("__cudaCDP2Memset3DAsync") == [4, 12, None, 14]  # the stream is in registers
    kind, stream = TABLE["__cudaCDP2Memcpy2DAsync"].homes[-2:]
    assert (kind, stream) == (Home(None, 0), Home(None, 8))


def test_scratch_words_follow_each_other():
    assert TABLE["__cudaCDP2GetParameterBufferV2"].places == [0, 1, 3, 5]
    assert TABLE["__cudaCDP2Memset3DAsync"].places == [0, 4, 5, 8]
    assert TABLE["__cudaCDP2GetLastError"].places == []


def test_launches_copies_and_fills_are_done_after_the_grid():
    names = {SERVICES[number].removeprefix("__cudaCDP2") for number in QUEUES}
    assert {"LaunchDeviceV2", "LaunchDevice_ptsz", "MemcpyAsync", "Memset3DAsync_ptsz"} <= names
    assert not any("Get" in name or "Stream" in name for name in names)
