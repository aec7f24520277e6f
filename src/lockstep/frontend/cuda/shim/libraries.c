// Libraries of the runtime API: modules that a program loads, and kernels by their names.

#include <stdlib.h>

#include "runtime.h"

// Options of libraries are ignored: nothing depends on them.
API int cudaLibraryLoadData(struct module **out, const void *image, int *jit, void **jit_values,
                            unsigned jit_count, int *options, void **values, unsigned count) {
    (void)options, (void)values, (void)count;
    struct jit_options compiler = {jit_count, jit, jit_values};
    struct module *module = NULL;
    int status = out ? module_make(&module, image, &compiler) : INVALID_VALUE;
    if (!status) {
        *out = module;
    }
    return report(status);
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

API int cudaLibraryGetKernelCount(unsigned *count, struct module *library) {
    int wrong = check(library, count ? "" : NULL);
    return report(wrong ? wrong : module_kernels(library, NULL, 0, count));
}

API int cudaLibraryEnumerateKernels(struct kernel **kernels, unsigned room,
                                    struct module *library) {
    int wrong = check(library, kernels ? "" : NULL);
    unsigned count = 0;
    int status = wrong ? wrong : module_kernels(library, kernels, room, &count);
    for (unsigned k = 0; !status && k < count && k < room; k++) {
        kernel_announce(kernels[k]);
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
