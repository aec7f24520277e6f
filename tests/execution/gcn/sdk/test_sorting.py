"""Histogram, HistogramAtomics, PrefixSum and RadixSort."""

import numpy as np
import pytest

import lockstep

BINS = 256


def test_a_histogram_of_each_group(load, rng):
    """Bytes in local memory: one count for each item and bin."""
    device, module = load("Histogram")
    group, groups = 128, 2
    values = rng.integers(0, BINS, (groups, group * BINS), dtype=np.uint32)
    out = device.zeros((groups, BINS), np.uint32)
    module["histogram256"][groups * group, group](
        device.array(values), lockstep.local(group * BINS), out
    )
    expected = [np.bincount(own, minlength=BINS) for own in values]
    assert np.array_equal(out.numpy(), expected)


def test_histograms_by_atomics_and_their_sum(load, rng):
    device, module = load("HistogramAtomics")
    items, vectors = 1024, 8
    words = rng.integers(0, 2**32, (vectors, items, 4), dtype=np.uint32)
    bins = device.zeros((items // 256, BINS), np.uint32)
    module["histogramKernel"][items, 256](device.array(words), bins, vectors)
    groups = words.reshape(vectors, items // 256, -1).swapaxes(0, 1)
    expected = [np.bincount(own.copy().view(np.uint8).ravel(), minlength=BINS) for own in groups]
    assert np.array_equal(bins.numpy(), expected)
    module["reduceKernel"][BINS, 256](bins, items // 256)
    assert np.array_equal(bins.numpy()[0], np.sum(expected, 0))


@pytest.mark.parametrize("length", [2, 128, 512])
def test_a_prefix_sum(length, load, rng):
    device, module = load("PrefixSum")
    values = rng.integers(0, 10, length).astype(np.float32)
    out = device.zeros(length, np.float32)
    module["prefixSum"][length // 2, length // 2](
        out, device.array(values), lockstep.local(4 * length), length
    )
    assert np.array_equal(out.numpy(), np.cumsum(values) - values)


@pytest.mark.parametrize("shift", [0, 8, 24])
def test_a_pass_of_a_radix_sort(shift, load, rng):
    """Counts of each item, then the elements in their places: a stable sort by one byte."""
    device, module = load("RadixSort")
    group, groups = 64, 2
    values = rng.integers(0, 2**32, group * groups * BINS, dtype=np.uint32)
    unsorted = device.array(values)
    digits = (values >> np.uint32(shift) & np.uint32(255)).reshape(-1, BINS)
    counts = np.array([np.bincount(own, minlength=BINS) for own in digits], np.uint32)
    buckets = device.zeros(counts.shape, np.uint32)
    local = lockstep.local(2 * group * BINS)
    module["histogram"][groups * group, group](unsorted, buckets, shift, local)
    assert np.array_equal(buckets.numpy(), counts)
    before = np.cumsum(counts.T.ravel(), dtype=np.uint32) - counts.T.ravel()
    places = device.array(before.reshape(BINS, -1).T.copy())
    out = device.zeros(len(values), np.uint32)
    module["permute"][groups * group, group](unsorted, places, shift, local, out)
    assert np.array_equal(out.numpy(), values[np.argsort(digits.ravel(), kind="stable")])
