// Small dense operations on a batch of matrices: the same code for a thread or a team for each.

#pragma once
#include "parallel.cuh"

using Batch = View3<double>;
using Matrix = View2<double>;
using Vector = View1<double>;

enum Transposed { NT, T };
enum Diagonal { N, U };  // as it is, or of ones

// Calls body(i, j) for first <= i < n0 and second <= j < n1, cut over the members.
template <class Member, class Body>
__device__ void each(const Member &m, int first, int n0, int second, int n1, Body body) {
    int width = n1 - second, count = (n0 - first) * width;
    for (int e = m.rank(); e < count; e += m.size()) {
        body(first + e / width, second + e % width);
    }
}

template <class Member> __device__ void scale(const Member &m, double a, const Matrix &x) {
    each(m, 0, x.n0, 0, x.n1, [&](int i, int j) { x(i, j) *= a; });
    m.barrier();
}

struct SetAll {
    double a;
    Batch x;
    template <class Member> __device__ void operator()(const Member &m) const {
        Matrix x = this->x.matrix(m.league());
        each(m, 0, x.n0, 0, x.n1, [&](int i, int j) { x(i, j) = a; });
    }
};

struct ScaleAll {
    double a;
    Batch x;
    template <class Member> __device__ void operator()(const Member &m) const {
        scale(m, a, x.matrix(m.league()));
    }
};

template <Transposed LEFT, Transposed RIGHT> struct GemmOf {  // C = b C + a op(A) op(B)
    double a, b;
    Batch left, right, c;
    template <class Member> __device__ void operator()(const Member &m) const {
        Matrix l = left.matrix(m.league()), r = right.matrix(m.league()), c = this->c.matrix(m.league());
        int inner = LEFT == NT ? l.n1 : l.n0;
        each(m, 0, c.n0, 0, c.n1, [&](int i, int j) {
            double value = 0.0;
            for (int k = 0; k < inner; k++) {
                value += (LEFT == NT ? l(i, k) : l(k, i)) * (RIGHT == NT ? r(k, j) : r(j, k));
            }
            c(i, j) = b * c(i, j) + a * value;
        });
    }
};

// Solves A X = a B in place of B, A being lower triangular.
template <Diagonal DIAGONAL, class Member>
__device__ void solve_lower(const Member &m, const Matrix &a, const Matrix &b) {
    for (int p = 0; p < a.n0; p++) {
        if (DIAGONAL == N) {
            each(m, p, p + 1, 0, b.n1, [&](int i, int j) { b(i, j) /= a(p, p); });
            m.barrier();
        }
        each(m, p + 1, a.n0, 0, b.n1, [&](int i, int j) { b(i, j) -= a(i, p) * b(p, j); });
        m.barrier();
    }
}

template <Diagonal DIAGONAL, class Member>
__device__ void solve_upper(const Member &m, const Matrix &a, const Matrix &b) {
    for (int p = a.n0 - 1; p >= 0; p--) {
        if (DIAGONAL == N) {
            each(m, p, p + 1, 0, b.n1, [&](int i, int j) { b(i, j) /= a(p, p); });
            m.barrier();
        }
        each(m, 0, p, 0, b.n1, [&](int i, int j) { b(i, j) -= a(i, p) * b(p, j); });
        m.barrier();
    }
}

// X A = B, A being upper triangular.
template <Diagonal DIAGONAL, class Member>
__device__ void solve_upper_from_right(const Member &m, const Matrix &a, const Matrix &b) {
    for (int p = 0; p < a.n0; p++) {
        if (DIAGONAL == N) {
            each(m, 0, b.n0, p, p + 1, [&](int i, int j) { b(i, j) /= a(p, p); });
            m.barrier();
        }
        each(m, 0, b.n0, p + 1, a.n0, [&](int i, int j) { b(i, j) -= b(i, p) * a(p, j); });
        m.barrier();
    }
}

enum Triangle { LEFT_LOWER, LEFT_UPPER, RIGHT_UPPER };

template <Triangle TRIANGLE, Diagonal DIAGONAL> struct TrsmOf {
    double scaled;
    Batch a, b;
    template <class Member> __device__ void operator()(const Member &m) const {
        Matrix a = this->a.matrix(m.league()), b = this->b.matrix(m.league());
        scale(m, scaled, b);
        if (TRIANGLE == LEFT_LOWER) {
            solve_lower<DIAGONAL>(m, a, b);
        } else if (TRIANGLE == LEFT_UPPER) {
            solve_upper<DIAGONAL>(m, a, b);
        } else {
            solve_upper_from_right<DIAGONAL>(m, a, b);
        }
    }
};

struct Lu {
    Batch a;
    template <class Member> __device__ void operator()(const Member &m) const {
        Matrix a = this->a.matrix(m.league());
        for (int p = 0; p < a.n0; p++) {
            each(m, p + 1, a.n0, p, p + 1, [&](int i, int j) { a(i, j) /= a(p, p); });
            m.barrier();
            each(m, p + 1, a.n0, p + 1, a.n1, [&](int i, int j) { a(i, j) -= a(i, p) * a(p, j); });
            m.barrier();
        }
    }
};

template <Transposed TRANSPOSED> struct GemvOf {  // y = b y + a op(A) x; vectors are n x 1 matrices
    double a, b;
    Batch matrix, x, y;
    template <class Member> __device__ void operator()(const Member &m) const {
        Matrix l = matrix.matrix(m.league());
        Vector x = this->x.vector(m.league()), y = this->y.vector(m.league());
        int inner = TRANSPOSED == NT ? l.n1 : l.n0;
        for (int i = m.rank(); i < y.n; i += m.size()) {
            double value = 0.0;
            for (int k = 0; k < inner; k++) {
                value += (TRANSPOSED == NT ? l(i, k) : l(k, i)) * x(k);
            }
            y(i) = b * y(i) + a * value;
        }
    }
};

#define BATCHED(KIND, DRIVER)                                                                      \
    KERNEL(batched_scalar_##KIND##_set_double_double, DRIVER<SetAll>)                              \
    KERNEL(batched_scalar_##KIND##_scale_double_double, DRIVER<ScaleAll>)                          \
    KERNEL(batched_scalar_##KIND##_gemm_nt_nt_double_double, DRIVER<GemmOf<NT, NT>>)               \
    KERNEL(batched_scalar_##KIND##_gemm_t_nt_double_double, DRIVER<GemmOf<T, NT>>)                 \
    KERNEL(batched_scalar_##KIND##_gemm_nt_t_double_double, DRIVER<GemmOf<NT, T>>)                 \
    KERNEL(batched_scalar_##KIND##_gemm_t_t_double_double, DRIVER<GemmOf<T, T>>)                   \
    KERNEL(batched_scalar_##KIND##_trsm_l_l_nt_u_double_double, DRIVER<TrsmOf<LEFT_LOWER, U>>)     \
    KERNEL(batched_scalar_##KIND##_trsm_l_l_nt_n_double_double, DRIVER<TrsmOf<LEFT_LOWER, N>>)     \
    KERNEL(batched_scalar_##KIND##_trsm_l_u_nt_u_double_double, DRIVER<TrsmOf<LEFT_UPPER, U>>)     \
    KERNEL(batched_scalar_##KIND##_trsm_l_u_nt_n_double_double, DRIVER<TrsmOf<LEFT_UPPER, N>>)     \
    KERNEL(batched_scalar_##KIND##_trsm_r_u_nt_u_double_double, DRIVER<TrsmOf<RIGHT_UPPER, U>>)    \
    KERNEL(batched_scalar_##KIND##_trsm_r_u_nt_n_double_double, DRIVER<TrsmOf<RIGHT_UPPER, N>>)    \
    KERNEL(batched_scalar_##KIND##_lu_double, DRIVER<Lu>)                                          \
    KERNEL(batched_scalar_##KIND##_gemv_nt_double_double, DRIVER<GemvOf<NT>>)                      \
    KERNEL(batched_scalar_##KIND##_gemv_t_double_double, DRIVER<GemvOf<T>>)
