// What the programs here check with: a program prints what is wrong, and PASS if nothing is.

#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Data of edges, which CUDA 13 adds to calls.
#if CUDART_VERSION >= 13000
#define NO_DATA , nullptr
#else
#define NO_DATA
#endif

inline int &failures() {
    static int count = 0;
    return count;
}

inline void check(bool right, const char *file, int line, const char *text, int value) {
    if (!right) {
        std::printf("%s:%d: %s (%d)\n", file, line, text, value);
        failures()++;
    }
}

#define IS(call, expected)                                                                         \
    do {                                                                                           \
        int value_ = (int)(call);                                                                  \
        check(value_ == (int)(expected), __FILE__, __LINE__, #call, value_);                       \
    } while (0)
#define CK(call) IS(call, 0)
#define OK(what) IS((bool)(what), true)

inline int finish() {
    if (!failures()) {
        std::printf("PASS\n");
    }
    return failures();
}
