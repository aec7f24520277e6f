// A thread for each matrix of a batch.

#include "batched.cuh"

BATCHED(serial, SerialFor)

template <Triangle TRIANGLE, Diagonal DIAGONAL> struct TrsvOf {
    double scaled;
    Batch a, b;
    __device__ void operator()(const Serial &m) const {
        Matrix a = this->a.matrix(m.league());
        Vector x = b.vector(m.league());
        Matrix column = {x.data, x.n, 1, x.stride, 0};
        scale(m, scaled, column);
        if (TRIANGLE == LEFT_LOWER) {
            solve_lower<DIAGONAL>(m, a, column);
        } else {
            solve_upper<DIAGONAL>(m, a, column);
        }
    }
};
KERNEL(batched_scalar_serial_trsv_l_nt_u_double_double, SerialFor<TrsvOf<LEFT_LOWER, U>>)
KERNEL(batched_scalar_serial_trsv_l_nt_n_double_double, SerialFor<TrsvOf<LEFT_LOWER, N>>)
KERNEL(batched_scalar_serial_trsv_u_nt_u_double_double, SerialFor<TrsvOf<LEFT_UPPER, U>>)
KERNEL(batched_scalar_serial_trsv_u_nt_n_double_double, SerialFor<TrsvOf<LEFT_UPPER, N>>)
