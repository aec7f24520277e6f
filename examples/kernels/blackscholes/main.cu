#include "../program.cuh"
#include "blackscholes.cu"

double distribution(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 10000);
    const float rate = 0.02f, volatility = 0.3f;
    Random random;
    std::vector<float> spot = random.reals(n, 10, 40), strike = random.reals(n, 10, 40);
    std::vector<float> years = random.reals(n, 0.25f, 5);
    std::vector<double> calls(n), puts(n);
    DeviceArray<float> device_spot(spot), device_strike(strike), device_years(years);
    DeviceArray<float> call(n), put(n);
    blackscholes<<<blocks(n, 128), 128>>>(n, rate, volatility, device_spot, device_strike,
                                          device_years, call, put);
    for (int i = 0; i < n; i++) {
        double s = spot[i], k = strike[i], t = years[i], deviation = volatility * std::sqrt(t);
        double d1 = (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) / deviation;
        double discounted = k * std::exp(-rate * t);
        calls[i] = s * distribution(d1) - discounted * distribution(d1 - deviation);
        puts[i] = calls[i] + discounted - s;
    }
    expect("call", call.download(), calls, 1e-4, 1e-4);
    expect("put", put.download(), puts, 1e-4, 1e-4);
    return finish();
}
