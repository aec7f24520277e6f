import pytest

from lockstep.store import entry

PACKED = entry.pack("model/one", b"content")


def test_what_is_packed_comes_back():
    assert entry.unpack(PACKED) == ("model/one", b"content")
    assert entry.unpack(entry.pack("ü", b"")) == ("ü", b"")


@pytest.mark.parametrize("length", range(len(PACKED)))
def test_a_file_that_was_cut_off_is_noticed(length):
    with pytest.raises(entry.Damaged):
        entry.unpack(PACKED[:length])


@pytest.mark.parametrize("position", range(len(PACKED)))
def test_a_flipped_bit_is_noticed(position):
    for bit in range(8):
        damaged = bytearray(PACKED)
        damaged[position] ^= 1 << bit
        with pytest.raises(entry.Damaged):
            entry.unpack(bytes(damaged))


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "it is empty"),
        (PACKED[:20], "it ends after 20 bytes"),
        (b"\x7fELF" + PACKED[4:], "it does not begin as one of lockstep's"),
        (PACKED[:8] + b"\x07" + PACKED[9:], "its format is 7, not 1"),
        (PACKED[:16] + b"\xff" * 8 + PACKED[24:], "it has 72 bytes where 18446744073709551680"),
        (PACKED + b"!", "it has 73 bytes where 72 were written"),
        (PACKED[:-1] + b"!", "its checksum is wrong"),
    ],
)
def test_the_damage_is_named(data, message):
    with pytest.raises(entry.Damaged, match=message):
        entry.unpack(data)
