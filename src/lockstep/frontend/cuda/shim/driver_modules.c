// The driver API's modules, functions and launches.

#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { LAZY_LOADING = 2 }; // CUmoduleLoadingMode

API int cuModuleLoadData(struct module **out, const void *image) {
    if (!out || !image) {
        return INVALID_VALUE;
    }
    size_t bytes = image_bytes(image);
    if (!bytes) {
        return INVALID_IMAGE;
    }
    struct module *module = module_open(image, bytes);
    int status = module_load(module);
    if (status) {
        module_drop(module);
        module = NULL;
    }
    *out = module;
    return translate(status);
}

// Options are for the compiler of PTX, which there is none of.
API int cuModuleLoadDataEx(struct module **out, const void *image, unsigned count, int *options,
                           void **values) {
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(out, image);
}
ALSO(cuModuleLoadFatBinary, cuModuleLoadData);

API int cuModuleLoad(struct module **out, const char *path) {
    if (!out || !path) {
        return INVALID_VALUE;
    }
    void *image = image_read(path);
    if (!image) {
        return FILE_NOT_FOUND;
    }
    int status = cuModuleLoadData(out, image);
    free(image);
    return status;
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

API int cuLibraryLoadData(struct module **out, const void *image) {
    return cuModuleLoadData(out, image);
}

API int cuLibraryLoadFromFile(struct module **out, const char *path) {
    return cuModuleLoad(out, path);
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

// Linking: texts of PTX come one behind the other, for cuModuleLoadData to link. Another input is
// passed through alone.

enum { INPUT_PTX = 1 }; // CUjitInputType

struct linking {
    char *image;
    size_t bytes;
    bool is_text;
};

API int cuLinkCreate(unsigned count, int *options, void **values, struct linking **out) {
    (void)count, (void)options, (void)values;
    if (!out) {
        return INVALID_VALUE;
    }
    *out = calloc(1, sizeof **out);
    handle_add(LINKING_HANDLE, *out);
    return SUCCESS;
}
ALSO(cuLinkCreate_v2, cuLinkCreate);

API int cuLinkAddData(struct linking *linking, int kind, const void *data, size_t bytes) {
    if (!handle_get(LINKING_HANDLE, linking)) {
        return INVALID_HANDLE;
    }
    if (!data || !bytes) {
        return INVALID_VALUE;
    }
    bool is_text = kind == INPUT_PTX;
    if (linking->image && !(is_text && linking->is_text)) {
        return gpu_unsupported("linking several inputs that are not all PTX");
    }
    linking->image = realloc(linking->image, linking->bytes + bytes + 64);
    char *end = linking->image + linking->bytes;
    memset(end, 0, bytes + 64);
    memcpy(end, data, bytes);
    if (is_text) {
        bytes = strlen(end);
        end[bytes++] = '\n';
    }
    linking->is_text = is_text;
    linking->bytes += bytes;
    return SUCCESS;
}
ALSO(cuLinkAddData_v2, cuLinkAddData);

API int cuLinkAddFile(struct linking *linking, int kind, const char *path) {
    if (!path || !handle_get(LINKING_HANDLE, linking)) {
        return path ? INVALID_HANDLE : INVALID_VALUE;
    }
    void *data = image_read(path);
    if (!data) {
        return FILE_NOT_FOUND;
    }
    int status = cuLinkAddData(linking, kind, data, image_bytes(data));
    free(data);
    return status;
}
ALSO(cuLinkAddFile_v2, cuLinkAddFile);

API int cuLinkComplete(struct linking *linking, void **image, size_t *bytes) {
    if (!image || !handle_get(LINKING_HANDLE, linking)) {
        return image ? INVALID_HANDLE : INVALID_VALUE;
    }
    *image = linking->image;
    if (bytes) {
        *bytes = linking->bytes;
    }
    return linking->image ? SUCCESS : INVALID_VALUE;
}

API int cuLinkDestroy(struct linking *linking) {
    if (!handle_take(LINKING_HANDLE, linking)) {
        return INVALID_HANDLE;
    }
    free(linking->image);
    free(linking);
    return SUCCESS;
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
