#include "../program.cuh"
#include "fft.cu"

#include <complex>

// Cooley and Tukey's recursion, in double precision.
std::vector<std::complex<double>> transform(const std::vector<std::complex<double>> &x) {
    size_t n = x.size();
    if (n == 1) {
        return x;
    }
    std::vector<std::complex<double>> even, odd, y(n);
    for (size_t i = 0; i < n; i++) {
        (i % 2 == 0 ? even : odd).push_back(x[i]);
    }
    even = transform(even);
    odd = transform(odd);
    for (size_t k = 0; k < n / 2; k++) {
        auto turned = std::polar(1.0, -2.0 * 3.141592653589793 * k / n) * odd[k];
        y[k] = even[k] + turned;
        y[k + n / 2] = even[k] - turned;
    }
    return y;
}

int main(int argc, char **argv) {
    int wanted = size_argument(argc, argv, 4096), n = 2;
    while (n < wanted) {
        n *= 2;
    }
    Random random;
    std::vector<float2> values(n);
    std::vector<std::complex<double>> x(n);
    for (int i = 0; i < n; i++) {
        values[i] = make_float2(random.real(-1, 1), random.real(-1, 1));
        x[i] = {values[i].x, values[i].y};
    }
    DeviceArray<float2> a(values), b(n);
    bool in_a = true;
    for (int span = 1; span < n; span *= 2, in_a = !in_a) {
        fft<<<blocks(n / 2, 128), 128>>>(n, span, in_a ? a : b, in_a ? b : a);
    }
    std::vector<float> actual;
    std::vector<double> expected;
    for (const float2 &value : (in_a ? a : b).download()) {
        actual.insert(actual.end(), {value.x, value.y});
    }
    for (const auto &value : transform(x)) {
        expected.insert(expected.end(), {value.real(), value.imag()});
    }
    expect("y", actual, expected, 1e-4, 1e-5 * std::sqrt(n));
    return finish();
}
