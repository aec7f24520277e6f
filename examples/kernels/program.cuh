// What the host programs share: arrays on the device, random inputs, and the comparison of results.
// A program prints PASS and returns 0, or says what is wrong and returns 1.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

// Ends the program if a call of the CUDA runtime failed.
inline void require(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        std::printf("FAIL: %s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

#define CUDA_CHECK(call) require((call), #call)

template <typename T> class DeviceArray {
  public:
    explicit DeviceArray(size_t size) : size_(size) {
        CUDA_CHECK(cudaMalloc(&data_, size_ * sizeof(T)));
    }

    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size()) {
        upload(values);
    }

    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    ~DeviceArray() {
        cudaFree(data_);
    }

    operator T *() const {
        return data_;
    }

    void upload(const std::vector<T> &values) {
        size_t bytes = size_ * sizeof(T);
        CUDA_CHECK(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice));
    }

    // A copy of the values, once all kernels before have ended.
    std::vector<T> download() const {
        std::vector<T> values(size_);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        size_t bytes = size_ * sizeof(T);
        CUDA_CHECK(cudaMemcpy(values.data(), data_, bytes, cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T *data_ = nullptr;
    size_t size_;
};

// The same numbers in every run (SplitMix64, Steele et al., OOPSLA 2014).
class Random {
  public:
    uint64_t bits() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // From low to high, high left out.
    int integer(int low, int high) {
        return low + (int)((bits() >> 32) * (uint64_t)(high - low) >> 32);
    }

    float real(float low, float high) {
        return low + (high - low) * (float)(bits() >> 40) / 16777216.0f;
    }

    std::vector<float> reals(size_t count, float low = 0.0f, float high = 1.0f) {
        std::vector<float> values(count);
        for (float &value : values) {
            value = real(low, high);
        }
        return values;
    }

    template <typename T = int> std::vector<T> integers(size_t count, int low, int high) {
        std::vector<T> values(count);
        for (T &value : values) {
            value = (T)integer(low, high);
        }
        return values;
    }

  private:
    uint64_t state_ = 0;
};

// The size given on the command line, or the program's own.
inline int size_argument(int argc, char **argv, int size) {
    if (argc > 1) {
        size = std::atoi(argv[1]);
    }
    if (size < 1) {
        std::printf("usage: %s [SIZE]\n", argv[0]);
        std::exit(2);
    }
    return size;
}

// How many blocks of `block` threads cover `items`.
inline int blocks(int items, int block) {
    return (items + block - 1) / block;
}

inline bool &failed() {
    static bool any = false;
    return any;
}

// Values agree where |actual - expected| <= absolute + relative * |expected|.
template <typename A, typename B>
void expect(const char *name, const std::vector<A> &actual, const std::vector<B> &expected,
            double relative = 0.0, double absolute = 0.0) {
    size_t wrong = actual.size() != expected.size();
    for (size_t i = 0; !wrong && i < expected.size(); i++) {
        double value = (double)actual[i], wanted = (double)expected[i];
        if (!(std::fabs(value - wanted) <= absolute + relative * std::fabs(wanted))) {
            std::printf("FAIL: %s[%zu] is %.9g, expected %.9g\n", name, i, value, wanted);
            wrong++;
        }
    }
    failed() = failed() || wrong > 0;
}

// What main returns.
inline int finish() {
    if (!failed()) {
        std::printf("PASS\n");
    }
    return failed();
}

// The product of a (rows x depth) and b (depth x columns), in double precision.
template <typename T>
std::vector<double> product(int rows, int columns, int depth, const std::vector<T> &a,
                            const std::vector<T> &b) {
    std::vector<double> c((size_t)rows * columns, 0.0);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < depth; k++) {
            for (int j = 0; j < columns; j++) {
                c[i * columns + j] += (double)a[i * depth + k] * (double)b[k * columns + j];
            }
        }
    }
    return c;
}
