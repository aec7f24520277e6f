// How compiled programs announce their fat binaries, kernels and variables before main starts.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { LINKED = 2 }; // a version of wrappers

struct wrapper {
    int magic, version;
    const void *data;
    const void *const *objects; // if it was linked: fat binaries of what from, and NULL
};

struct dim3;

// What an address in the program stands for.
struct named {
    bool is_kernel;
    void *item;
};

static void name(const void *key, bool is_kernel, void *item) {
    struct named *named = malloc(sizeof *named);
    *named = (struct named){is_kernel, item};
    handle_put(NAMED_ADDRESS, key, named);
}

static void *named(const void *key, bool is_kernel) {
    struct named *found = handle_get(NAMED_ADDRESS, key);
    return found && found->is_kernel == is_kernel ? found->item : NULL;
}

struct kernel *kernel_of(const void *function) {
    return named(function, true);
}

void kernel_announce(struct kernel *kernel) {
    name(kernel, true, kernel);
}

struct variable *variable_of(const void *shadow) {
    return named(shadow, false);
}

// A fat binary, and behind it those of its objects: the simulator links PTX where it has nothing.
static struct module *open_linked(const void *linked, const void *const *objects) {
    size_t bytes = image_bytes(linked);
    for (int k = 0; objects[k]; k++) {
        bytes += image_bytes(objects[k]);
    }
    char *all = malloc(bytes), *end = all;
    end = mempcpy(end, linked, image_bytes(linked));
    for (int k = 0; objects[k]; k++) {
        end = mempcpy(end, objects[k], image_bytes(objects[k]));
    }
    return module_open(all, bytes);
}

API void **__cudaRegisterFatBinary(void *given) {
    const struct wrapper *wrapper = given;
    if (!wrapper || !wrapper->data) {
        return NULL;
    }
    if (wrapper->version == LINKED && wrapper->objects) {
        return (void **)open_linked(wrapper->data, wrapper->objects);
    }
    return (void **)module_open(wrapper->data, image_bytes(wrapper->data));
}

API void __cudaRegisterFatBinaryEnd(void **module) {
    (void)module;
}

// Runs while the program ends: the simulator frees everything when the connection closes.
API void __cudaUnregisterFatBinary(void **module) {
    (void)module;
}

API void __cudaRegisterFunction(void **module, const char *stub, char *function,
                                const char *symbol, int limit, void *tid, void *bid, void *block,
                                void *grid, int *warp) {
    (void)function, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    if (!module_lives((struct module *)module) || !symbol) {
        return;
    }
    struct kernel *kernel = module_kernel((struct module *)module, symbol);
    kernel->stub = stub;
    name(stub, true, kernel);
    kernel_announce(kernel);
}

API void __cudaRegisterVar(void **module, char *shadow, char *address, const char *symbol,
                           int external, size_t size, int constant, int global) {
    (void)address, (void)external, (void)size, (void)constant, (void)global;
    if (module_lives((struct module *)module) && symbol) {
        name(shadow, false, module_variable((struct module *)module, symbol));
    }
}

static struct managed {
    struct managed *next;
    struct variable *variable;
} *managed;

API void __cudaRegisterManagedVar(void **module, void **shadow, char *address, const char *symbol,
                                  int external, size_t size, int constant, int global) {
    (void)address, (void)external, (void)size, (void)constant, (void)global;
    if (!module_lives((struct module *)module) || !symbol) {
        return;
    }
    struct managed *entry = malloc(sizeof *entry);
    struct variable *variable = module_variable((struct module *)module, symbol);
    variable->shadow = shadow;
    *entry = (struct managed){managed, variable};
    managed = entry;
    name(shadow, false, variable);
}

// Called before a managed variable is first touched: its pointer is filled in.
API char __cudaInitModule(void **module) {
    for (struct managed *entry = managed; entry; entry = entry->next) {
        if (entry->variable->module == (struct module *)module &&
            variable_find(entry->variable) == SUCCESS) {
            *entry->variable->shadow = (void *)(uintptr_t)variable_address(entry->variable);
        }
    }
    return 1;
}

// Texture references ended with CUDA 12: a program that has them links, and is told when it runs.
API void __cudaRegisterTexture(void **module, const void *shadow, const void **address,
                               const char *symbol, int dimensions, int normalized, int external) {
    (void)module, (void)shadow, (void)address, (void)symbol, (void)dimensions, (void)normalized;
    (void)external;
    gpu_unsupported("texture references");
}

API void __cudaRegisterSurface(void **module, const void *shadow, const void **address,
                               const char *symbol, int dimensions, int external) {
    (void)module, (void)shadow, (void)address, (void)symbol, (void)dimensions, (void)external;
    gpu_unsupported("surface references");
}
