// Launches, and what programs ask of kernels: attributes, occupancy.

#include <string.h>

#include "runtime.h"

enum { NESTED = 16 };

static _Thread_local struct configuration {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
} configurations[NESTED];
static _Thread_local int depth;

API unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared,
                                         void *stream) {
    if (depth == NESTED) {
        return (unsigned)report(INVALID_CONFIGURATION);
    }
    configurations[depth++] = (struct configuration){grid, block, shared, stream};
    return SUCCESS;
}

API int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared,
                                   void *stream) {
    if (depth == 0) {
        return report(52);
    }
    const struct configuration *top = &configurations[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return SUCCESS;
}

static int launch(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                  size_t shared, stream_t stream, bool cooperative) {
    struct kernel *kernel = kernel_of(function);
    if (!kernel) {
        return report(INVALID_FUNCTION);
    }
    struct shape shape = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                          shared, handle_of(stream), cooperative};
    return report(capture_active(stream) ? capture_launch(kernel, &shape, arguments)
                                         : kernel_launch(kernel, &shape, arguments, NULL, 0));
}

API int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
                         void **arguments, size_t shared, stream_t stream) {
    return launch(function, grid, block, arguments, shared, stream, false);
}

API int __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **arguments,
                           size_t shared, stream_t stream) {
    return launch(kernel, grid, block, arguments, shared, stream, false);
}

API int cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block,
                                    void **arguments, size_t shared, stream_t stream) {
    return launch(function, grid, block, arguments, shared, stream, true);
}

API int __cudaGetKernel(void **handle, const void *function) {
    *handle = kernel_of(function);
    return *handle ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaGetKernel(void **handle, const void *function) {
    return __cudaGetKernel(handle, function);
}

API int cudaGetFuncBySymbol(void **handle, const void *function) {
    return __cudaGetKernel(handle, function);
}

struct launch_attribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        int number;
        unsigned cluster[3];
    } value;
};

struct launch_configuration {
    struct dim3 grid, block;
    size_t shared;
    stream_t stream;
    struct launch_attribute *attributes;
    unsigned count;
};

enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4 };

API int cudaLaunchKernelExC(const struct launch_configuration *how, const void *function,
                            void **arguments) {
    bool cooperative = false;
    for (unsigned k = 0; k < how->count; k++) {
        const struct launch_attribute *attribute = &how->attributes[k];
        const unsigned *cluster = attribute->value.cluster;
        if (attribute->id == COOPERATIVE) {
            cooperative = attribute->value.number != 0;
        } else if (attribute->id == CLUSTER_DIMENSION &&
                   cluster[0] * cluster[1] * cluster[2] > 1) {
            return report(gpu_unsupported("cudaLaunchKernelExC with clusters"));
        }
    }
    return launch(function, how->grid, how->block, arguments, how->shared, how->stream,
                  cooperative);
}

struct function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int most_threads, registers, ptx_version, binary_version, caching, most_dynamic, carveout;
};

enum { SHARED_PER_BLOCK = 8, SHARED_OPT_IN = 97, MAJOR = 75, MINOR = 76 };

static int default_dynamic(const struct kernel *kernel) {
    return gpu_attribute(SHARED_PER_BLOCK) - (int)kernel->facts.shared_bytes;
}

API int cudaFuncGetAttributes(struct function_attributes *out, const void *function) {
    struct kernel *kernel = kernel_of(function);
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    if (status) {
        return report(status);
    }
    int version = 10 * gpu_attribute(MAJOR) + gpu_attribute(MINOR);
    *out = (struct function_attributes){
        .shared_bytes = kernel->facts.shared_bytes,
        .constant_bytes = kernel->facts.constant_bytes,
        .local_bytes = kernel->facts.local_bytes,
        .most_threads = (int)kernel->facts.most_threads,
        .registers = (int)kernel->facts.registers,
        .ptx_version = version,
        .binary_version = version,
        .most_dynamic =
            kernel->most_dynamic < 0 ? default_dynamic(kernel) : kernel->most_dynamic,
        .carveout = kernel->carveout,
    };
    return SUCCESS;
}

enum { MOST_DYNAMIC = 8, CARVEOUT = 9 };

API int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    struct kernel *kernel = kernel_of(function);
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    if (status) {
        return report(status);
    }
    if (attribute == MOST_DYNAMIC) {
        int most = gpu_attribute(SHARED_OPT_IN) - (int)kernel->facts.shared_bytes;
        if (value < 0 || value > most) {
            return report(INVALID_VALUE);
        }
        kernel->most_dynamic = value;
    } else if (attribute == CARVEOUT) {
        kernel->carveout = value;
    }
    return SUCCESS;
}

API int cudaFuncSetCacheConfig(const void *function, int preference) {
    (void)preference;
    return kernel_of(function) ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaFuncSetSharedMemConfig(const void *function, int preference) {
    return cudaFuncSetCacheConfig(function, preference);
}

API int cudaFuncGetName(const char **name, const void *function) {
    struct kernel *kernel = kernel_of(function);
    *name = kernel ? kernel->name : NULL;
    return kernel ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *function,
                                                               int threads, size_t shared,
                                                               unsigned flags) {
    (void)flags;
    struct kernel *kernel = kernel_of(function);
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    if (status) {
        return report(status);
    }
    struct occupancy_request request = {kernel->handle, (uint64_t)threads, shared};
    struct occupancy_reply fields = {0};
    status = GPU_CALL(OCCUPANCY, &request, &fields);
    *ctas = (int)fields.ctas;
    return report(status);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *function,
                                                      int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, function, threads, shared,
                                                                  0);
}

API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int ctas,
                                                  int threads) {
    (void)threads;
    struct kernel *kernel = kernel_of(function);
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    if (status || ctas < 1) {
        return report(status ? status : INVALID_VALUE);
    }
    size_t share = (size_t)gpu_attribute(SHARED_OPT_IN) / (size_t)ctas;
    size_t taken = kernel->facts.shared_bytes;
    *bytes = share > taken ? share - taken : 0;
    return SUCCESS;
}
