// What the kernels of this folder are made of: views with strides, and drivers that call a functor.
//
// A driver holds its functor by value, and is itself the only parameter of a kernel. Names and
// shapes are those of parallel_for, parallel_reduce and teams as performance-portable libraries
// have them; the code is plain CUDA C++.

#pragma once

template <class T> struct View1 {
    T *data;
    int n, stride;
    __device__ T &operator()(int i) const { return data[(long long)i * stride]; }
};

template <class T> struct View2 {
    T *data;
    int n0, n1, stride0, stride1;
    __device__ T &operator()(int i, int j) const {
        return data[(long long)i * stride0 + (long long)j * stride1];
    }
    __device__ View1<T> column(int j) const { return {&(*this)(0, j), n0, stride0}; }
};

template <class T> struct View3 {
    T *data;
    int n0, n1, n2, stride0, stride1, stride2;
    __device__ View2<T> matrix(int k) const {
        return {data + (long long)k * stride0, n1, n2, stride1, stride2};
    }
    __device__ View1<T> vector(int k) const {
        return {data + (long long)k * stride0, n1, stride1};
    }
};

// Calls the functor for each i below n: a grid of any size.
template <class Functor> struct ParallelFor {
    Functor functor;
    int n;
    __device__ void operator()() const {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            functor(i);
        }
    }
};

struct Sum {
    static __device__ double identity() { return 0.0; }
    static __device__ double join(double a, double b) { return a + b; }
};

struct Max {
    static __device__ double identity() { return 0.0; }  // of absolute values
    static __device__ double join(double a, double b) { return fmax(a, b); }
};

// Reduces what the functor gives for each i below n and each column: in a block through shared
// memory, then the last block to come joins what all blocks have left.
template <class Functor, class Reducer> struct ParallelReduce {
    Functor functor;
    int n, columns;
    double *partial;  // [blocks, columns]
    unsigned *arrived;
    View1<double> result;  // [columns]

    __device__ void operator()() const {
        extern __shared__ double shared[];
        __shared__ bool is_last;
        for (int j = 0; j < columns; j++) {
            double value = Reducer::identity();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
                 i += gridDim.x * blockDim.x) {
                value = Reducer::join(value, functor(i, j));
            }
            value = block(shared, value);
            if (threadIdx.x == 0) {
                partial[blockIdx.x * columns + j] = value;
            }
        }
        if (threadIdx.x == 0) {
            __threadfence();
            is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last) {
            return;
        }
        __threadfence();
        for (int j = 0; j < columns; j++) {
            double value = Reducer::identity();
            for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
                value = Reducer::join(value, ((volatile double *)partial)[k * columns + j]);
            }
            value = block(shared, value);
            if (threadIdx.x == 0) {
                result(j) = functor.last(value);
            }
        }
    }

    static __device__ double block(double *shared, double value) {
        shared[threadIdx.x] = value;
        for (int width = blockDim.x / 2; width > 0; width /= 2) {
            __syncthreads();
            if (threadIdx.x < width) {
                shared[threadIdx.x] =
                    Reducer::join(shared[threadIdx.x], shared[threadIdx.x + width]);
            }
        }
        __syncthreads();
        value = shared[0];
        __syncthreads();
        return value;
    }
};

// Who works together: a block, or one thread. `rank` and `size` cut ranges.
struct Team {
    __device__ int league() const { return blockIdx.x; }
    __device__ int rank() const { return threadIdx.x; }
    __device__ int size() const { return blockDim.x; }
    __device__ void barrier() const { __syncthreads(); }
};

struct Serial {
    int index;
    __device__ int league() const { return index; }
    __device__ int rank() const { return 0; }
    __device__ int size() const { return 1; }
    __device__ void barrier() const {}
};

// A team for each i below n: the grid has n blocks.
template <class Functor> struct TeamFor {
    Functor functor;
    int n;
    __device__ void operator()() const { functor(Team{}); }
};

// A thread for each i below n.
template <class Functor> struct SerialFor {
    Functor functor;
    int n;
    __device__ void operator()() const {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            functor(Serial{i});
        }
    }
};

#define KERNEL(NAME, ...)                                                                          \
    extern "C" __global__ void NAME(const __grid_constant__ __VA_ARGS__ driver) { driver(); }
