"""EigenValue and FFT."""

import numpy as np
import pytest


def test_transforms_of_1024_points(load, rng):
    device, module = load("FFT")
    signal = rng.standard_normal((3, 1024, 2)).astype(np.float32)
    real, imaginary = (device.array(signal[..., k].copy()) for k in range(2))
    module["kfft"][3 * 64, 64](real, imaginary)
    expected = np.fft.fft(signal[..., 0] + 1j * signal[..., 1].astype(float))
    got = real.numpy() + 1j * imaginary.numpy()
    assert np.abs(got - expected).max() < 1e-4


@pytest.fixture
def matrix(rng):
    """The diagonal and its neighbour of a symmetric matrix, and bounds of its eigenvalues."""
    diagonal = rng.uniform(0, 10, 64).astype(np.float32)
    beside = rng.uniform(1, 5, 63).astype(np.float32)
    reach = np.zeros(64)
    reach[:-1] += np.abs(beside)
    reach[1:] += np.abs(beside)
    return diagonal, beside, (diagonal - reach).min() - 1, (diagonal + reach).max() + 1


def eigenvalues(matrix):
    diagonal, beside, *_ = matrix
    whole = np.diag(diagonal.astype(float)) + np.diag(beside.astype(float), 1)
    return np.linalg.eigvalsh(whole + np.triu(whole, 1).T)


def test_intervals_know_how_many_eigenvalues_they_have(load, matrix):
    device, module = load("EigenValue")
    diagonal, beside, low, high = matrix
    edges = np.linspace(low, high, 65).astype(np.float32)
    intervals = np.stack([edges[:-1], edges[1:]], 1)
    counts = device.zeros(64, np.uint32)
    module["calNumEigenValueInterval"][64, 64](
        counts, device.array(intervals), device.array(diagonal), device.array(beside), 64
    )
    assert np.array_equal(counts.numpy(), np.histogram(eigenvalues(matrix), edges)[0])


def test_intervals_close_in_on_all_eigenvalues(load, matrix):
    device, module = load("EigenValue")
    diagonal, beside, low, high = matrix
    tolerance = 1e-3
    start = np.full((64, 2), high, np.float32)
    start[0] = low, high
    intervals, counts = device.array(start), device.zeros(64, np.uint32)
    rows = device.array(diagonal), device.array(beside)
    for _ in range(60):
        module["calNumEigenValueInterval"][64, 64](counts, intervals, *rows, 64)
        new = device.zeros((64, 2), np.float32)
        module["recalculateEigenIntervals"][64, 64](
            new, intervals, counts, *rows, 64, np.float32(tolerance)
        )
        intervals = new
        widths = np.diff(intervals.numpy())
        if widths.max() < tolerance:
            break
    found = np.sort(intervals.numpy().mean(1))
    assert widths.max() < tolerance
    assert np.abs(found - eigenvalues(matrix)).max() < tolerance
