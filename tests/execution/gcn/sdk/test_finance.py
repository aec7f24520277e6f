"""BinomialOption, BlackScholes, MonteCarloAsian and MonteCarloAsianDP."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import lockstep

HOSTS = Path(__file__).parents[4] / "examples" / "southern-islands"


@pytest.mark.parametrize("steps", [62, 254])
def test_options_by_a_binomial_tree(steps, load, rng):
    device, module = load("BinomialOption")
    samples = 3
    random = rng.random((samples, 4), dtype=np.float32)
    out = device.zeros(random.shape, np.float32)
    leaves = lockstep.local(16 * (steps + 1))
    module["binomial_options"][samples * (steps + 1), steps + 1](
        steps, device.array(random), out, leaves, leaves
    )
    assert np.allclose(out.numpy(), binomial(random.astype(float), steps), rtol=1e-4, atol=1e-4)


def binomial(random, steps):
    """Values at the root, in double precision."""
    stock, strike = between(random, 5, 30), between(random, 1, 100)
    years = between(random, 0.25, 10)
    step = years / steps
    growth, up = np.exp(0.02 * step), np.exp(0.30 * np.sqrt(step))
    chance = (growth - 1 / up) / (up - 1 / up)
    leaf = np.arange(steps + 1)[:, None, None]
    values = np.maximum(stock * np.exp(0.30 * np.sqrt(step) * (2 * leaf - steps)) - strike, 0)
    for _ in range(steps):
        values = (chance * values[:-1] + (1 - chance) * values[1:]) / growth
    return values[0]


def between(random, low, high):
    return (1 - random) * low + random * high


def test_options_by_black_and_scholes(load, rng):
    device, module = load("BlackScholes")
    width, height = 64, 4
    random = rng.random((height, width, 4), dtype=np.float32)
    call, put = (device.zeros(random.shape, np.float32) for _ in range(2))
    module["blackScholes"][(width, height), (64, 1)](device.array(random), width, call, put)
    expected = black_scholes(random.astype(float))
    assert np.allclose(call.numpy(), expected[0], rtol=1e-5, atol=1e-4)
    assert np.allclose(put.numpy(), expected[1], rtol=1e-5, atol=1e-4)


def black_scholes(random):
    """Prices of calls and puts, in double precision."""
    stock, strike = between(random, 100, 10), between(random, 100, 10)
    years, rate, sigma = (
        between(random, high, low) for low, high in ((1, 10), (0.01, 0.05), (0.01, 0.10))
    )
    d1 = (np.log(stock / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
    d2 = d1 - sigma * np.sqrt(years)
    later = strike * np.exp(-rate * years)
    call = stock * normal_area(d1) - later * normal_area(d2)
    return call, later * normal_area(-d2) - stock * normal_area(-d1)


def normal_area(x):
    """The normal distribution by Abramowitz and Stegun's formula 26.2.17, as the program has it."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    factors = 1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530
    tail = 0.398942280 * np.exp(-x * x / 2) * np.polyval([*factors, 0], t)
    return np.where(x < 0, tail, 1 - tail)


@pytest.mark.parametrize(
    ("program", "kind", "rtol", "atol"),
    [("MonteCarloAsian", np.float32, 1e-5, 1e-4), ("MonteCarloAsianDP", np.float64, 1e-13, 1e-12)],
)
def test_options_by_a_monte_carlo_method(program, kind, rtol, atol, load, rng, monkeypatch):
    monkeypatch.syspath_prepend(str(HOSTS))
    twister = importlib.import_module("mersenne_twister")
    device, module = load(program)
    width, height, steps = 64, 2, 8
    strike, rate, start, sigma, step = 55.0, 0.06, 50.0, 0.3, 1 / steps
    c1, c2, c3 = (rate - sigma**2 / 2) * step, sigma * np.sqrt(step), rate + sigma**2 / 2
    attributes = np.repeat(np.array([strike, c1, c2, c3, start, sigma, step], kind), 4)
    seeds = rng.integers(0, 2**32, (width * height, 4), dtype=np.uint32)
    prices, slopes = (device.zeros((width * height, 2, 4), kind) for _ in range(2))
    module["calPriceVega"][(width, height), (64, 1)](
        attributes, steps, width, device.array(seeds), prices, slopes
    )
    sums, price = np.full((width * height, 2, 4), start), np.full((width * height, 2, 4), start)
    slope = np.zeros(price.shape)
    for k in range(1, steps):
        words = twister.twisted(seeds, 4)
        price *= np.exp(c1 + c2 * pairs(words, kind))
        sums += price
        slope += price * (np.log(price / start) - c3 * step * k) / sigma
        seeds = words[2]
    means = sums / steps
    assert np.allclose(prices.numpy(), np.maximum(means - strike, 0), rtol, atol)
    above = np.abs(means - strike) > 1e-3  # where the sign is not a matter of rounding
    expected = np.where(means > strike, slope / steps, 0)
    assert above.mean() > 0.99
    assert np.allclose(slopes.numpy()[above], expected[above], rtol, 10 * atol)


def pairs(words, kind):
    """Two normally distributed vectors of each seed, of the first two of its words."""
    first, second = (words[k].astype(kind).astype(float) / 2**32 for k in range(2))
    radius = np.sqrt(-2 * np.log(first))
    angle = (kind(2) * kind(np.float32(3.14159265358979)) * second.astype(kind)).astype(float)
    if kind is np.float64:
        angle = 2 * 3.14159265358979 * second
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
