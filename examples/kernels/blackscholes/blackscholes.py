import math

import numpy as np

from lockstep.kernels import Check, blocks, builtin

RATE, VOLATILITY = 0.02, 0.3


def distribution(x):
    """The standard normal distribution."""
    return 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in x])


def prices(spot, strike, years):
    """Calls and puts in double precision."""
    spot, strike, years = (a.astype(np.float64) for a in (spot, strike, years))
    deviation = VOLATILITY * np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + VOLATILITY**2 / 2) * years) / deviation
    discounted = strike * np.exp(-RATE * years)
    call = spot * distribution(d1) - discounted * distribution(d1 - deviation)
    return call, call + discounted - spot


@builtin(size=25_000, small=700, unit="options")
def blackscholes(device, module, rng, n):
    """Prices of European options by the formula of Black and Scholes."""
    spot, strike = rng.uniform(10, 40, (2, n)).astype(np.float32)
    years = rng.uniform(0.25, 5, n).astype(np.float32)
    call, put = device.empty(n, np.float32), device.empty(n, np.float32)
    inputs = [device.array(values) for values in (spot, strike, years)]
    module["blackscholes"][blocks(n, 128), 128](n, RATE, VOLATILITY, *inputs, call, put)
    yield Check("call", call, lambda: prices(spot, strike, years)[0], rtol=1e-4, atol=1e-4)
    yield Check("put", put, lambda: prices(spot, strike, years)[1], rtol=1e-4, atol=1e-4)
