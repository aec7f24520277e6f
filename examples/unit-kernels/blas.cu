// Vectors and multivectors (columns of a matrix), and two products.

#include "parallel.cuh"

using Vector = View1<double>;
using Matrix = View2<double>;

// Each operation on one element; how it becomes a vector's and a multivector's is below.
struct Abs {
    static __device__ double of(double a, double x, double b, double y) { return fabs(x); }
};
struct Reciprocal {
    static __device__ double of(double a, double x, double b, double y) { return 1.0 / x; }
};
struct Scal {
    static __device__ double of(double a, double x, double b, double y) { return a * x; }
};
struct Axpy {
    static __device__ double of(double a, double x, double b, double y) { return y + a * x; }
};
struct Axpby {
    static __device__ double of(double a, double x, double b, double y) { return a * x + b * y; }
};

template <class Operation> struct OnVector {
    double a, b;
    Vector x, y;
    __device__ void operator()(int i) const { y(i) = Operation::of(a, x(i), b, y(i)); }
};

// A coefficient for each column.
template <class Operation> struct OnColumns {
    Vector a, b;
    Matrix x, y;
    __device__ void operator()(int i) const {
        for (int j = 0; j < x.n1; j++) {
            y(i, j) = Operation::of(a(j), x(i, j), b(j), y(i, j));
        }
    }
};

#define ELEMENTWISE(NAME, OPERATION)                                                               \
    KERNEL(NAME##_double, ParallelFor<OnVector<OPERATION>>)                                        \
    KERNEL(NAME##_mv_double, ParallelFor<OnColumns<OPERATION>>)

ELEMENTWISE(abs, Abs)
ELEMENTWISE(reciprocal, Reciprocal)
ELEMENTWISE(scal, Scal)
ELEMENTWISE(axpy, Axpy)
ELEMENTWISE(axpby, Axpby)

struct Mult {  // y = b y + a v x, elements by elements
    double a, b;
    Vector v, x, y;
    __device__ void operator()(int i) const { y(i) = b * y(i) + a * v(i) * x(i); }
};
struct MultColumns {
    double a, b;
    Vector v;
    Matrix x, y;
    __device__ void operator()(int i) const {
        for (int j = 0; j < x.n1; j++) {
            y(i, j) = b * y(i, j) + a * v(i) * x(i, j);
        }
    }
};
struct Update {  // z = c z + a x + b y
    double a, b, c;
    Vector x, y, z;
    __device__ void operator()(int i) const { z(i) = c * z(i) + a * x(i) + b * y(i); }
};
struct UpdateColumns {
    double a, b, c;
    Matrix x, y, z;
    __device__ void operator()(int i) const {
        for (int j = 0; j < x.n1; j++) {
            z(i, j) = c * z(i, j) + a * x(i, j) + b * y(i, j);
        }
    }
};
KERNEL(mult_double, ParallelFor<Mult>)
KERNEL(mult_mv_double, ParallelFor<MultColumns>)
KERNEL(update_double, ParallelFor<Update>)
KERNEL(update_mv_double, ParallelFor<UpdateColumns>)

struct Plain {
    static __device__ double of(double x, double y) { return x; }
    static __device__ double last(double value) { return value; }
};
struct Absolute {
    static __device__ double of(double x, double y) { return fabs(x); }
    static __device__ double last(double value) { return value; }
};
struct Product {
    static __device__ double of(double x, double y) { return x * y; }
    static __device__ double last(double value) { return value; }
};
struct Square {
    static __device__ double of(double x, double y) { return x * x; }
    static __device__ double last(double value) { return value; }
};
struct RootOfSquares {
    static __device__ double of(double x, double y) { return x * x; }
    static __device__ double last(double value) { return sqrt(value); }
};

template <class Operation> struct OfVector {
    Vector x, y;
    __device__ double operator()(int i, int) const { return Operation::of(x(i), y(i)); }
    __device__ double last(double value) const { return Operation::last(value); }
};
template <class Operation> struct OfColumns {
    Matrix x, y;
    __device__ double operator()(int i, int j) const { return Operation::of(x(i, j), y(i, j)); }
    __device__ double last(double value) const { return Operation::last(value); }
};

#define REDUCTION(NAME, OPERATION, REDUCER)                                                        \
    KERNEL(NAME##_double, ParallelReduce<OfVector<OPERATION>, REDUCER>)                            \
    KERNEL(NAME##_mv_double, ParallelReduce<OfColumns<OPERATION>, REDUCER>)

REDUCTION(sum, Plain, Sum)
REDUCTION(dot, Product, Sum)
REDUCTION(nrm1, Absolute, Sum)
REDUCTION(nrm2, RootOfSquares, Sum)
REDUCTION(nrm2_squared, Square, Sum)
REDUCTION(nrminf, Absolute, Max)
KERNEL(asum_double, ParallelReduce<OfVector<Absolute>, Sum>)

struct Gemv {  // y = b y + a M x: a team for each row
    double a, b;
    Matrix m;
    Vector x, y;
    __device__ void operator()(const Team &team) const {
        extern __shared__ double shared[];
        int i = team.league();
        double value = 0.0;
        for (int j = team.rank(); j < m.n1; j += team.size()) {
            value += m(i, j) * x(j);
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_down_sync(0xffffffff, value, offset);
        }
        if (team.rank() % 32 == 0) {
            shared[team.rank() / 32] = value;
        }
        team.barrier();
        if (team.rank() == 0) {
            for (int warp = 1; warp < team.size() / 32; warp++) {
                value += shared[warp];
            }
            y(i) = b * y(i) + a * value;
        }
    }
};
KERNEL(gemv_double, TeamFor<Gemv>)

const int TILE = 16;

struct Gemm {  // C = b C + a A B: a team of TILE x TILE threads for each tile, operands in scratch
    double a, b;
    Matrix left, right, c;
    __device__ void operator()(const Team &team) const {
        __shared__ double scratch[2][TILE][TILE + 1];
        int across = (c.n1 + TILE - 1) / TILE, y = team.rank() / TILE, x = team.rank() % TILE;
        int i = team.league() / across * TILE + y, j = team.league() % across * TILE + x;
        double value = 0.0;
        for (int first = 0; first < left.n1; first += TILE) {
            int k = first + x, l = first + y;
            scratch[0][y][x] = i < c.n0 && k < left.n1 ? left(i, k) : 0.0;
            scratch[1][y][x] = j < c.n1 && l < left.n1 ? right(l, j) : 0.0;
            team.barrier();
            for (int n = 0; n < TILE; n++) {
                value += scratch[0][y][n] * scratch[1][n][x];
            }
            team.barrier();
        }
        if (i < c.n0 && j < c.n1) {
            c(i, j) = b * c(i, j) + a * value;
        }
    }
};
KERNEL(gemm_double, TeamFor<Gemm>)
