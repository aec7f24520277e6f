// The driver API's modules, functions and launches.

#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { LAZY_LOADING = 2 }; // CUmoduleLoadingMode

API int cuModuleLoadData(struct module **out, const void *image) {
    return translate(module_make(out, image, &(struct jit_options){0}));
}

API int cuModuleLoadDataEx(struct module **out, const void *image, unsigned count, int *options,
                           void **values) {
    return translate(module_make(out, image, &(struct jit_options){count, options, values}));
}
ALSO(cuModuleLoadFatBinary, cuModuleLoadData);

static int load_file(struct module **out, const char *path, const struct jit_options *options) {
    if (!out || !path) {
        return INVALID_VALUE;
    }
    void *image = image_read(path);
    if (!image) {
        return FILE_NOT_FOUND;
    }
    int status = module_make(out, image, options);
    free(image);
    return translate(status);
}

API int cuModuleLoad(struct module **out, const char *path) {
    return load_file(out, path, &(struct jit_options){0});
}

API int cuModuleUnload(struct module *module) {
    if (!module_lives(module)) {
        return INVALID_HANDLE;
    }
    module_close(module);
    return SUCCESS;
}

API int cuModuleGetLoadingMode(int *mode) {
    return GIVE(mode, LAZY_LOADING);
}

static int check(const struct module *module, const char *name) {
    return !name ? INVALID_VALUE : module_lives(module) ? SUCCESS : INVALID_HANDLE;
}

API int cuModuleGetFunction(struct kernel **out, struct module *module, const char *name) {
    int status = check(module, out ? name : NULL);
    if (status) {
        return status;
    }
    *out = module_kernel(module, name);
    return translate(kernel_find(*out));
}

API int cuModuleGetFunctionCount(unsigned *count, struct module *module) {
    int status = check(module, count ? "" : NULL);
    return status ? status : translate(module_kernels(module, NULL, 0, count));
}
ALSO(cuLibraryGetKernelCount, cuModuleGetFunctionCount);

API int cuModuleEnumerateFunctions(struct kernel **kernels, unsigned room, struct module *module) {
    int status = check(module, kernels ? "" : NULL);
    return status ? status : translate(module_kernels(module, kernels, room, NULL));
}
ALSO(cuLibraryEnumerateKernels, cuModuleEnumerateFunctions);

API int cuModuleGetGlobal(pointer_t *address, size_t *bytes, struct module *module,
                          const char *name) {
    int status = check(module, name);
    if (status) {
        return status;
    }
    struct variable *variable = module_variable(module, name);
    status = variable_find(variable);
    if (address) {
        *address = variable_address(variable);
    }
    if (bytes) {
        *bytes = variable->size;
    }
    return translate(status);
}
ALSO(cuModuleGetGlobal_v2, cuModuleGetGlobal);

static bool is_kernel(const struct kernel *kernel) {
    return handle_get(KERNEL_HANDLE, kernel) != NULL;
}

// A library is a module that is loaded when it is used.

API int cuLibraryLoadData(struct module **out, const void *image, int *jit, void **jit_values,
                          unsigned jit_count, int *options, void **values, unsigned count) {
    (void)options, (void)values, (void)count;
    return cuModuleLoadDataEx(out, image, jit_count, jit, jit_values);
}

API int cuLibraryLoadFromFile(struct module **out, const char *path, int *jit, void **jit_values,
                              unsigned jit_count, int *options, void **values, unsigned count) {
    (void)options, (void)values, (void)count;
    return load_file(out, path, &(struct jit_options){jit_count, jit, jit_values});
}

API int cuLibraryUnload(struct module *module) {
    return cuModuleUnload(module);
}

API int cuLibraryGetKernel(struct kernel **out, struct module *module, const char *name) {
    return cuModuleGetFunction(out, module, name);
}

API int cuLibraryGetModule(struct module **out, struct module *library) {
    return module_lives(library) ? GIVE(out, library) : INVALID_HANDLE;
}

API int cuLibraryGetGlobal(pointer_t *address, size_t *bytes, struct module *module,
                           const char *name) {
    return cuModuleGetGlobal(address, bytes, module, name);
}

API int cuLibraryGetManaged(pointer_t *address, size_t *bytes, struct module *module,
                            const char *name) {
    return cuModuleGetGlobal(address, bytes, module, name);
}

API int cuKernelGetFunction(struct kernel **out, struct kernel *kernel) {
    return is_kernel(kernel) ? GIVE(out, kernel) : INVALID_HANDLE;
}

API int cuFuncGetModule(struct module **out, struct kernel *kernel) {
    return is_kernel(kernel) ? GIVE(out, kernel->module) : INVALID_HANDLE;
}

API int cuFuncGetName(const char **name, struct kernel *kernel) {
    return is_kernel(kernel) ? GIVE(name, kernel->name) : INVALID_HANDLE;
}
ALSO(cuKernelGetName, cuFuncGetName);

API int cuKernelGetLibrary(struct module **out, struct kernel *kernel) {
    return cuFuncGetModule(out, kernel);
}

API int cuFuncIsLoaded(int *loaded, struct kernel *kernel) {
    return is_kernel(kernel) ? GIVE(loaded, kernel->handle != 0) : INVALID_HANDLE;
}

API int cuFuncLoad(struct kernel *kernel) {
    return is_kernel(kernel) ? translate(kernel_find(kernel)) : INVALID_HANDLE;
}

// Attributes and occupancy

API int cuFuncGetAttribute(int *value, int attribute, struct kernel *kernel) {
    return is_kernel(kernel) ? translate(kernel_attribute(kernel, attribute, value))
                             : INVALID_HANDLE;
}

API int cuFuncSetAttribute(struct kernel *kernel, int attribute, int value) {
    return is_kernel(kernel) ? translate(kernel_set_attribute(kernel, attribute, value))
                             : INVALID_HANDLE;
}

API int cuKernelGetAttribute(int *value, int attribute, struct kernel *kernel, int device) {
    (void)device;
    return cuFuncGetAttribute(value, attribute, kernel);
}

API int cuKernelSetAttribute(int attribute, int value, struct kernel *kernel, int device) {
    (void)device;
    return cuFuncSetAttribute(kernel, attribute, value);
}

API int cuFuncGetParamInfo(struct kernel *kernel, size_t number, size_t *offset, size_t *bytes) {
    return is_kernel(kernel) ? translate(kernel_parameter(kernel, number, offset, bytes))
                             : INVALID_HANDLE;
}
ALSO(cuKernelGetParamInfo, cuFuncGetParamInfo);

API int cuFuncSetCacheConfig(struct kernel *kernel, int preference) {
    (void)preference;
    return is_kernel(kernel) ? SUCCESS : INVALID_HANDLE;
}
ALSO(cuFuncSetSharedMemConfig, cuFuncSetCacheConfig);
ALSO(cuKernelSetCacheConfig, cuFuncSetCacheConfig);

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, struct kernel *kernel, int threads,
                                                    size_t shared) {
    return is_kernel(kernel) ? translate(kernel_occupancy(kernel, threads, shared, ctas))
                             : INVALID_HANDLE;
}
ALSO(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     cuOccupancyMaxActiveBlocksPerMultiprocessor);

API int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, struct kernel *kernel, int ctas,
                                                int threads) {
    (void)threads;
    return is_kernel(kernel) ? translate(kernel_shared_room(kernel, ctas, bytes)) : INVALID_HANDLE;
}

API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct kernel *kernel,
                                         size_t (*shared_of)(int), size_t shared, int limit) {
    return is_kernel(kernel)
               ? translate(kernel_best_block(kernel, shared_of, shared, limit, grid, block))
               : INVALID_HANDLE;
}
ALSO(cuOccupancyMaxPotentialBlockSizeWithFlags, cuOccupancyMaxPotentialBlockSize);

// Launches

static int launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  void **extra) {
    const void *block = NULL;
    size_t bytes = 0;
    for (; extra && *extra; extra += 2) {
        if (*extra == (void *)BUFFER_POINTER) {
            block = extra[1];
        } else if (*extra == (void *)BUFFER_SIZE) {
            bytes = extra[1] ? *(size_t *)extra[1] : 0;
        }
    }
    return is_kernel(kernel) ? translate(stream_launch(kernel, shape, arguments, block, bytes))
                  : INVALID_HANDLE;
}

API int cuLaunchKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                       stream_t stream, void **arguments, void **extra) {
    struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                          shared, handle_of(stream), false, {0}};
    return launch(kernel, &shape, arguments, extra);
}

API int cuLaunchCooperativeKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared, stream_t stream,
                                  void **arguments) {
    struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                          shared, handle_of(stream), true, {0}};
    return launch(kernel, &shape, arguments, NULL);
}

struct launch_configuration {
    unsigned grid[3], block[3], shared;
    stream_t stream;
    struct launch_attribute *attributes;
    unsigned count;
};

static int configured(const struct launch_configuration *how, struct shape *shape) {
    if (!how) {
        return INVALID_VALUE;
    }
    *shape = (struct shape){.dynamic_shared = how->shared, .stream = handle_of(how->stream)};
    memcpy(shape->grid, how->grid, sizeof shape->grid);
    memcpy(shape->block, how->block, sizeof shape->block);
    return launch_attributes(how->attributes, how->count, shape);
}

API int cuLaunchKernelEx(const struct launch_configuration *how, struct kernel *kernel,
                         void **arguments, void **extra) {
    struct shape shape;
    int status = configured(how, &shape);
    return status ? status : launch(kernel, &shape, arguments, extra);
}

API int cuOccupancyMaxActiveClusters(int *clusters, struct kernel *kernel,
                                     const struct launch_configuration *how) {
    struct shape shape;
    int status = is_kernel(kernel) ? configured(how, &shape) : INVALID_HANDLE;
    return status ? status : translate(kernel_clusters(kernel, &shape, clusters));
}

API int cuOccupancyMaxPotentialClusterSize(int *ctas, struct kernel *kernel,
                                           const struct launch_configuration *how) {
    struct shape shape;
    int status = is_kernel(kernel) ? configured(how, &shape) : INVALID_HANDLE;
    return status ? status : translate(kernel_largest_cluster(kernel, &shape, ctas));
}
