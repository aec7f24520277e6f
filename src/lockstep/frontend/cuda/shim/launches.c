// Launches, and what programs ask of kernels: attributes, occupancy.

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { NESTED = 16, MISSING_CONFIGURATION = 52 };

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
        return report(MISSING_CONFIGURATION);
    }
    if (!grid || !block || !shared || !stream) {
        return report(INVALID_VALUE);
    }
    const struct configuration *top = &configurations[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return SUCCESS;
}

static int launch(const void *function, const struct shape *shape, void **arguments) {
    struct kernel *kernel = kernel_of(function);
    return report(kernel ? stream_launch(kernel, shape, arguments, NULL, 0) : INVALID_FUNCTION);
}

static struct shape shape_of(struct dim3 grid, struct dim3 block, size_t shared, stream_t stream) {
    return (struct shape){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                          shared, handle_of(stream), false, {0}};
}

// Launches as programs made them before CUDA 10: a configuration, each argument at its place in the
// kernel's parameters, then the launch.

enum { MOST_PARAMETERS = 4096 };

static _Thread_local struct setup {
    char *block;
    size_t bytes;
} setups[NESTED];

API int cudaConfigureCall(struct dim3 grid, struct dim3 block, size_t shared, stream_t stream) {
    int status = (int)__cudaPushCallConfiguration(grid, block, shared, stream);
    if (!status) {
        setups[depth - 1].bytes = 0;
    }
    return status;
}

API int cudaSetupArgument(const void *argument, size_t bytes, size_t offset) {
    if (depth == 0) {
        return report(MISSING_CONFIGURATION);
    }
    if (!argument || bytes > MOST_PARAMETERS || offset > MOST_PARAMETERS - bytes) {
        return report(INVALID_VALUE);
    }
    struct setup *setup = &setups[depth - 1];
    if (!setup->block) {
        setup->block = malloc(MOST_PARAMETERS);
    }
    if (!setup->block) {
        return report(OUT_OF_MEMORY);
    }
    if (offset > setup->bytes) { // between two arguments nothing is left of other launches
        memset(setup->block + setup->bytes, 0, offset - setup->bytes);
    }
    memcpy(setup->block + offset, argument, bytes);
    setup->bytes = offset + bytes > setup->bytes ? offset + bytes : setup->bytes;
    return SUCCESS;
}

API int cudaLaunch(const void *function) {
    struct dim3 grid, block;
    size_t shared;
    stream_t stream;
    int status = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    if (status) {
        return status;
    }
    struct kernel *kernel = kernel_of(function);
    if (!kernel) {
        return report(INVALID_FUNCTION);
    }
    struct setup *setup = &setups[depth];
    struct shape shape = shape_of(grid, block, shared, stream);
    status = stream_launch(kernel, &shape, NULL, setup->block ? setup->block : "", setup->bytes);
    free(setup->block);
    *setup = (struct setup){0};
    return report(status);
}

API int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
                         void **arguments, size_t shared, stream_t stream) {
    struct shape shape = shape_of(grid, block, shared, stream);
    return launch(function, &shape, arguments);
}

API int __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **arguments,
                           size_t shared, stream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API int cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block,
                                    void **arguments, size_t shared, stream_t stream) {
    struct shape shape = shape_of(grid, block, shared, stream);
    shape.cooperative = true;
    return launch(function, &shape, arguments);
}

API int __cudaGetKernel(void **handle, const void *function) {
    if (!handle) {
        return report(INVALID_VALUE);
    }
    *handle = kernel_of(function);
    return *handle ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaGetKernel(void **handle, const void *function) {
    return __cudaGetKernel(handle, function);
}

API int cudaGetFuncBySymbol(void **handle, const void *function) {
    return __cudaGetKernel(handle, function);
}

struct launch_configuration {
    struct dim3 grid, block;
    size_t shared;
    stream_t stream;
    struct launch_attribute *attributes;
    unsigned count;
};

static int configured(const struct launch_configuration *how, struct shape *shape) {
    if (!how) {
        return INVALID_VALUE;
    }
    *shape = shape_of(how->grid, how->block, how->shared, how->stream);
    return launch_attributes(how->attributes, how->count, shape);
}

API int cudaLaunchKernelExC(const struct launch_configuration *how, const void *function,
                            void **arguments) {
    struct shape shape;
    int status = configured(how, &shape);
    return status ? report(status) : launch(function, &shape, arguments);
}

API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                       const struct launch_configuration *how) {
    struct kernel *kernel = kernel_of(function);
    struct shape shape;
    int status = kernel ? configured(how, &shape) : INVALID_FUNCTION;
    return report(status ? status : kernel_clusters(kernel, &shape, clusters));
}

API int cudaOccupancyMaxPotentialClusterSize(int *ctas, const void *function,
                                             const struct launch_configuration *how) {
    struct kernel *kernel = kernel_of(function);
    struct shape shape;
    int status = kernel ? configured(how, &shape) : INVALID_FUNCTION;
    return report(status ? status : kernel_largest_cluster(kernel, &shape, ctas));
}

struct function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int most_threads;
    int others[CARVEOUT + 1 - REGISTERS];
#if RUNTIME > 11
    // cluster: whether it must be set, width, height, depth; policy; more than eight CTAs
    int clusters[6];
#endif
};

API int cudaFuncGetAttributes(struct function_attributes *out, const void *function) {
    if (!out) {
        return report(INVALID_VALUE);
    }
    struct kernel *kernel = kernel_of(function);
    int values[FUNCTION_ATTRIBUTES] = {0};
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    for (int k = 0; k < FUNCTION_ATTRIBUTES && !status; k++) {
        status = kernel_attribute(kernel, k, &values[k]);
    }
    if (status) {
        return report(status);
    }
    *out = (struct function_attributes){
        .shared_bytes = (size_t)values[STATIC_SHARED],
        .constant_bytes = (size_t)values[CONSTANT_BYTES],
        .local_bytes = (size_t)values[LOCAL_BYTES],
        .most_threads = values[MOST_THREADS],
    };
    memcpy(out->others, values + REGISTERS, sizeof out->others);
#if RUNTIME > 11
    memcpy(out->clusters, values + CLUSTER_MUST_BE_SET, 4 * sizeof(int));
    out->clusters[5] = values[NOT_PORTABLE];
#endif
    return SUCCESS;
}

API int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    struct kernel *kernel = kernel_of(function);
    return report(kernel ? kernel_set_attribute(kernel, attribute, value) : INVALID_FUNCTION);
}

API int cudaKernelSetAttributeForDevice(const void *kernel, int attribute, int value, int device) {
    int status = gpu_check(device);
    return status ? report(status) : cudaFuncSetAttribute(kernel, attribute, value);
}

API int cudaFuncSetCacheConfig(const void *function, int preference) {
    (void)preference;
    return kernel_of(function) ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaFuncSetSharedMemConfig(const void *function, int preference) {
    return cudaFuncSetCacheConfig(function, preference);
}

API int cudaFuncGetParamInfo(const void *function, size_t number, size_t *offset, size_t *bytes) {
    struct kernel *kernel = kernel_of(function);
    return report(kernel ? kernel_parameter(kernel, number, offset, bytes) : INVALID_FUNCTION);
}

API int cudaFuncGetName(const char **name, const void *function) {
    struct kernel *kernel = kernel_of(function);
    if (!name) {
        return report(INVALID_VALUE);
    }
    *name = kernel ? kernel->name : NULL;
    return kernel ? SUCCESS : report(INVALID_FUNCTION);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *function,
                                                      int threads, size_t shared) {
    struct kernel *kernel = kernel_of(function);
    return report(kernel ? kernel_occupancy(kernel, threads, shared, ctas) : INVALID_FUNCTION);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *function,
                                                               int threads, size_t shared,
                                                               unsigned flags) {
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, function, threads, shared);
}

API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int ctas,
                                                  int threads) {
    (void)threads;
    struct kernel *kernel = kernel_of(function);
    return report(kernel ? kernel_shared_room(kernel, ctas, bytes) : INVALID_FUNCTION);
}
