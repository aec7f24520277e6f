// Libraries of the runtime API: modules that a program loads, and kernels by their names.

#include <stdlib.h>

#include "runtime.h"

// Options are for the compiler of PTX, which there is none of, and of libraries: nothing depends on
// them.
API int cudaLibraryLoadData(struct module **out, const void *image, int *jit, void **jit_values,
                            unsigned jit_count, int *options, void **values, unsigned count) {
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    if (!out || !image) {
        return report(INVALID_VALUE);
    }
    size_t bytes = image_bytes(image);
    if (!bytes) {
        return report(INVALID_IMAGE);
    }
    struct module *module = module_open(image, bytes);
    int status = module_load(module);
    if (status) {
        module_drop(module);
        return report(status);
    }
    *out = module;
    return SUCCESS;
}

API int cudaLibraryLoadFromFile(struct module **out, const char *path, int *jit, void **jit_values,
                                unsigned jit_count, int *options, void **values, unsigned count) {
    if (!out || !path) {
        return report(INVALID_VALUE);
    }
    void *image = image_read(path);
    if (!image) {
        return report(FILE_NOT_FOUND);
    }
    int status = cudaLibraryLoadData(out, image, jit, jit_values, jit_count, options, values, count);
    free(image);
    return status;
}

API int cudaLibraryUnload(struct module *library) {
    if (!module_lives(library)) {
        return report(INVALID_HANDLE);
    }
    module_close(library);
    return SUCCESS;
}

static int check(const struct module *library, const char *name) {
    return !name ? INVALID_VALUE : module_lives(library) ? SUCCESS : INVALID_HANDLE;
}

API int cudaLibraryGetKernel(struct kernel **out, struct module *library, const char *name) {
    int wrong = check(library, out ? name : NULL);
    if (wrong) {
        return report(wrong);
    }
    struct kernel *kernel = module_kernel(library, name);
    int status = kernel_find(kernel);
    if (!status) {
        kernel_announce(kernel);
        *out = kernel;
    }
    return report(status);
}

API int cudaLibraryGetGlobal(void **address, size_t *bytes, struct module *library,
                             const char *name) {
    int wrong = check(library, name);
    if (wrong) {
        return report(wrong);
    }
    struct variable *variable = module_variable(library, name);
    int status = variable_find(variable);
    if (status) {
        return report(status);
    }
    if (address) {
        *address = (void *)(uintptr_t)variable_address(variable);
    }
    if (bytes) {
        *bytes = variable->size;
    }
    return SUCCESS;
}

API int cudaLibraryGetManaged(void **address, size_t *bytes, struct module *library,
                              const char *name) {
    return cudaLibraryGetGlobal(address, bytes, library, name);
}
