// Functions of the driver API that a program asks the runtime for by name.

#include <dlfcn.h>

#include "runtime.h"

enum { FOUND = 0, NO_SUCH_SYMBOL = 1, NEWEST_MINOR = 90 };

static int find(const char *name, void **function, unsigned version, int *result) {
    if (!name || !function) {
        return report(INVALID_VALUE);
    }
    void *driver = dlopen("libcuda.so.1", RTLD_NOW); // ours: it lies beside this library
    int (*ask)(const char *, void **, int, uint64_t, int *) = NULL;
    ask = driver ? dlsym(driver, "cuGetProcAddress_v2") : ask;
    if (!ask || ask(name, function, (int)version, 0, NULL)) {
        *function = NULL;
    }
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
    return find(name, function, 1000 * RUNTIME + NEWEST_MINOR, result);
}

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                         unsigned long long flags, int *result) {
    (void)flags;
    return find(name, function, version, result);
}
