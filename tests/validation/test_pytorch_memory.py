"""Where PyTorch's allocator puts tensors."""

from hypothesis import given
from hypothesis import strategies as st

from lockstep.validation.pytorch_memory import MIB, CachingAllocator, Piece


def sizes(allocator):
    return [segment.bytes for segment in allocator.segments]


def test_small_tensors_share_two_mebibytes_and_others_twenty():
    allocator = CachingAllocator()
    assert allocator.allocate(100) == Piece(0, 0, 512)
    assert allocator.allocate(MIB) == Piece(0, 512, MIB)
    assert allocator.allocate(MIB + 1) == Piece(1, 0, MIB + 512)
    assert allocator.allocate(4 * MIB) == Piece(1, MIB + 512, 4 * MIB)
    assert allocator.allocate(MIB) == Piece(2, 0, MIB), "too little is left of the first"
    assert sizes(allocator) == [2 * MIB, 20 * MIB, 2 * MIB]


def test_a_large_tensor_has_a_segment_of_its_own():
    allocator = CachingAllocator()
    assert allocator.allocate(10 * MIB - 512) == Piece(0, 0, 10 * MIB - 512)
    assert allocator.allocate(11 * MIB) == Piece(1, 0, 12 * MIB), "what is left is not used"
    assert allocator.allocate(64 * MIB) == Piece(2, 0, 64 * MIB)
    assert sizes(allocator) == [20 * MIB, 12 * MIB, 64 * MIB]


def test_the_smallest_piece_that_is_large_enough_is_taken():
    allocator = CachingAllocator()
    large, own = allocator.allocate(64 * MIB), allocator.allocate(4 * MIB)
    allocator.free(large)
    assert allocator.allocate(15 * MIB) == Piece(1, 4 * MIB, 16 * MIB), "1 MiB stays unused"
    assert allocator.allocate(20 * MIB) == Piece(0, 0, 20 * MIB)
    allocator.free(own)
    assert allocator.allocate(2 * MIB) == Piece(1, 0, 2 * MIB)


def test_free_neighbours_become_one():
    allocator = CachingAllocator()
    pieces = [allocator.allocate(5 * MIB) for _ in range(4)]
    for k in (0, 2, 1):
        allocator.free(pieces[k])
    assert allocator.allocate(15 * MIB) == Piece(0, 0, 15 * MIB)


@given(st.lists(st.tuples(st.integers(0, 30 * MIB), st.booleans()), max_size=40))
def test_no_two_tensors_share_a_byte(requests):
    allocator, held = CachingAllocator(), []
    for size, keep in requests:
        piece = allocator.allocate(size)
        assert piece.bytes >= size and piece.offset % 512 == 0
        for other in held:
            apart = piece.offset >= other.offset + other.bytes
            assert (
                piece.segment != other.segment
                or apart
                or (other.offset >= piece.offset + piece.bytes)
            )
        held.append(piece)
        if not keep:
            allocator.free(held.pop(len(held) // 2))
    for piece in held:
        allocator.free(piece)
    assert all(s.free == [(0, s.bytes)] for s in allocator.segments)
