// Traits of numbers, and bits of words.

#include "parallel.cuh"

#include <cfloat>
#include <climits>
#include <cmath>

// A row of results for each number; `common.py` has the same rows in NumPy.
struct Traits {
    View1<double> x;
    View2<double> out;
    __device__ void operator()(int i) const {
        double value = x(i), positive = fabs(value) + 0.5;
        double zero = value - value;  // no compiler knows
        float narrow = (float)value;
        int whole = (int)value;
        int k = 0;
        out(i, k++) = fabs(value);
        out(i, k++) = sqrt(positive);
        out(i, k++) = cbrt(value);
        out(i, k++) = exp(value);
        out(i, k++) = log(positive);
        out(i, k++) = log10(positive);
        out(i, k++) = sin(value);
        out(i, k++) = cos(value);
        out(i, k++) = tan(value);
        out(i, k++) = sinh(value);
        out(i, k++) = cosh(value);
        out(i, k++) = tanh(value);
        out(i, k++) = asin(value / 8);
        out(i, k++) = acos(value / 8);
        out(i, k++) = atan(value);
        out(i, k++) = pow(positive, 2.5);
        out(i, k++) = pow(positive, 3.0);
        out(i, k++) = isnan(value) || isinf(value);
        out(i, k++) = (isinf(value / zero) != 0) + 2 * (isnan(zero / zero) != 0);
        out(i, k++) = DBL_EPSILON;
        out(i, k++) = DBL_MAX;
        out(i, k++) = DBL_MIN;
        out(i, k++) = fabsf(narrow) + FLT_EPSILON;
        out(i, k++) = sqrtf(fabsf(narrow));
        out(i, k++) = abs(whole) + (double)INT_MAX;
        out(i, k++) = value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
    }
};
KERNEL(common_ArithTraits, ParallelFor<Traits>)

struct Words {
    View1<long long> x;
    View1<int> by_steps, by_instruction, of_half;
};

struct SetBitCount {  // by Kernighan's loop, and by an instruction
    Words words;
    __device__ void operator()(int i) const {
        unsigned long long x = words.x(i);
        words.by_instruction(i) = __popcll(x);
        words.of_half(i) = __popc((unsigned)x);
        int count = 0;
        for (; x; x &= x - 1) {
            count++;
        }
        words.by_steps(i) = count;
    }
};
KERNEL(common_set_bit_count, ParallelFor<SetBitCount>)

struct FirstSet {  // the place of the lowest bit that is set, from 1; 0 without one
    Words words;
    __device__ void operator()(int i) const {
        long long x = words.x(i);
        words.by_instruction(i) = __ffsll(x);
        words.of_half(i) = __ffs((int)x);
        int place = x ? 1 : 0;
        for (unsigned long long rest = x; rest && !(rest & 1); rest >>= 1) {
            place++;
        }
        words.by_steps(i) = place;
    }
};
KERNEL(common_ffs, ParallelFor<FirstSet>)
