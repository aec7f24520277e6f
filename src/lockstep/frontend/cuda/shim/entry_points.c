// Functions of the driver API that a program asks the runtime for by name.

#include <dlfcn.h>

#include "runtime.h"

enum { FOUND = 0, NO_SUCH_SYMBOL = 1 };

static int find(const char *name, void **function, int *result) {
    if (!name || !function) {
        return report(INVALID_VALUE);
    }
    void *driver = dlopen("libcuda.so.1", RTLD_NOW); // ours: it lies beside this library
    *function = driver ? dlsym(driver, name) : NULL;
    if (result) {
        *result = *function ? FOUND : NO_SUCH_SYMBOL;
        return SUCCESS;
    }
    return *function ? SUCCESS : report(NOT_FOUND);
}

API int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags
#if RUNTIME >= 12
                                ,
                                int *result
#endif
) {
#if RUNTIME < 12
    int *result = NULL;
#endif
    (void)flags;
    return find(name, function, result);
}

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                         unsigned long long flags, int *result) {
    (void)version, (void)flags;
    return find(name, function, result);
}
