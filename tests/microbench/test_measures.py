import numpy as np
import pytest

from lockstep.microbench.measures import Elapsed, Hops, Rounds, Slope, Throughput, Word


def segment_words(*warps):
    """Words of a kernel's segments: for each warp three pairs of start and end."""
    return np.array([clock for warp in warps for pair in warp for clock in pair], np.uint64)


ONE = [(0, 90), (100, 150), (200, 330)]
LATER = [(5, 95), (102, 158), (199, 335)]


def test_the_slope_is_what_iterations_add():
    slope = Slope((2, 2, 10), warps=1, steps=2)
    (reading,) = slope.read([segment_words(ONE)])
    assert reading.value == (130 - 50) / 8 / 2
    assert reading.raw == "50:130"


def test_a_span_is_from_the_first_start_to_the_last_end_of_any_warp():
    slope = Slope((2, 2, 10), warps=2)
    assert slope.spans(segment_words(ONE, LATER)) == (158 - 100, 335 - 199)


def test_an_amount_makes_a_rate_and_the_note_has_the_slope():
    slope = Slope((2, 2, 10), warps=1, amount=640, note="{t:.1f} cycles")
    (reading,) = slope.read([segment_words(ONE)])
    assert (reading.value, reading.notes) == (64, "10.0 cycles")


def test_the_median_of_the_repeats_counts():
    slow = [(0, 90), (100, 150), (200, 1000)]
    (reading,) = Slope((2, 2, 10), warps=1).read([segment_words(w) for w in (ONE, slow, ONE)])
    assert reading.value == 10


def test_hops_are_of_two_rounds():
    (reading,) = Hops(16).read([np.array([160, 320, 7], np.uint64)])
    assert (reading.value, reading.notes) == (15, "SM 7")


def test_throughput_is_by_the_global_timer_and_the_note_by_clocks():
    stamps = np.array([[1000, 3000, 0, 100, 0], [1500, 5000, 50, 250, 1]], np.uint64)
    (reading,) = Throughput(8000, blocks=2, sms=2).read([stamps.reshape(-1)])
    assert reading.value == 2
    assert reading.notes.startswith("20.00 per clk and SM")


def test_the_first_round_is_left_out():
    words = np.zeros((2, 2, 32), np.uint64)
    words[:, 1, 0] = 9999
    words[0, 0, 1:3], words[0, 1, 1:3] = (10, 20), (110, 120)
    words[1, 0, 1:3], words[1, 1, 1:3] = (12, 22), (130, 140)
    (reading,) = Rounds(3, warps=2, sectors=240).read([words.reshape(-1)])
    assert (reading.value, reading.notes) == (120, "2.00 sectors/clk")


def test_words_may_be_less_another_one():
    (reading,) = Word(1, less=0).read([np.array([50, 20], np.uint64)])
    assert reading.value == -30


def test_no_rate_is_made_of_no_time():
    assert Elapsed(amount=5).read([np.array([0])]) == []
    still = [(0, 90), (100, 150), (200, 250)]
    assert Slope((2, 2, 10), warps=1, amount=5).read([segment_words(still)]) == []


@pytest.mark.parametrize(("amount", "value"), [(0, 2.5), (5000, 2)])
def test_elapsed_is_in_microseconds_or_a_rate(amount, value):
    (reading,) = Elapsed(times=2, amount=amount).read([np.array([5000])])
    assert reading.value == value
