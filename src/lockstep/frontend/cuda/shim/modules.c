// Modules, their kernels and variables, looked up in the simulator when they are first used.

#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { FAT_BINARY = 0xBA55ED50u, CUBIN_MACHINE = 190 };

struct item {
    struct item *next;
    const char *name;
    void *named; // a kernel or a variable
};

struct module {
    const void *image;
    size_t bytes;
    bool loaded;
    int status;
    uint64_t handle;
    char *problem; // why it could not be loaded
    struct item *kernels, *variables;
};

// One lock for all lists here; nothing is done under it that waits.
LOCK(lock);
LOCK(loading);

struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t payload_bytes;
};

static size_t elf_bytes(const Elf64_Ehdr *elf) {
    size_t end = elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
    size_t programs = elf->e_phoff + (size_t)elf->e_phnum * elf->e_phentsize;
    const char *raw = (const char *)elf;
    for (int k = 0; k < elf->e_shnum; k++) {
        const Elf64_Shdr *section =
            (const Elf64_Shdr *)(const void *)(raw + elf->e_shoff + (size_t)k * elf->e_shentsize);
        size_t last = section->sh_offset + (section->sh_type == SHT_NOBITS ? 0 : section->sh_size);
        end = last > end ? last : end;
    }
    return programs > end ? programs : end;
}

size_t image_bytes(const void *image) {
    const struct fat_header *fat = image;
    if (fat->magic == FAT_BINARY) {
        return fat->header_bytes + fat->payload_bytes;
    }
    if (!memcmp(image, ELFMAG, SELFMAG)) {
        const Elf64_Ehdr *elf = image;
        return elf->e_machine == CUBIN_MACHINE ? elf_bytes(elf) : 0;
    }
    return strlen(image); // PTX
}

void *image_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        return NULL;
    }
    size_t bytes = (size_t)ftell(file); // of a folder: a number that there is no room for
    char *data = calloc(1, bytes + 64);
    rewind(file);
    bool whole = data && fread(data, 1, bytes, file) == bytes;
    fclose(file);
    if (!whole) {
        free(data);
        return NULL;
    }
    return data;
}

struct module *module_open(const void *image, size_t bytes) {
    struct module *module = calloc(1, sizeof *module);
    module->image = image;
    module->bytes = bytes;
    handle_add(MODULE_HANDLE, module);
    return module;
}

void module_drop(struct module *module) {
    handle_take(MODULE_HANDLE, module);
    free(module->problem);
    free(module);
}

// What the simulator says of the code that it refused last; to be freed.
static char *ask_problem(void) {
    struct reply reply = {0};
    if (gpu_call(CALL_CODE_PROBLEM, NULL, 0, NULL, 0, &reply) || !reply.data) {
        return strdup("");
    }
    char *text = calloc(1, reply.bytes + sizeof "error: ");
    strcpy(text, "error: ");
    memcpy(text + strlen(text), reply.data, reply.bytes);
    free(reply.data);
    return text;
}

const char *module_problem(const struct module *module) {
    return module->problem ? module->problem : "";
}

int ptx_check(const char *text, size_t bytes, const struct jit_options *options) {
    pthread_mutex_lock(&loading);
    int status = gpu_call(CALL_CHECK_PTX, NULL, 0, text, bytes, &(struct reply){0});
    char *problem = status ? ask_problem() : strdup("");
    pthread_mutex_unlock(&loading);
    jit_tell(options, problem);
    free(problem);
    return status;
}

static int find_variable(struct variable *variable) {
    struct find_variable_request request = {
        .module = variable->module->handle,
        .managed = variable->shadow != NULL,
    };
    struct find_variable_reply fields = {0};
    int status = gpu_call(CALL_FIND_VARIABLE, &request, sizeof request, variable->name,
                          strlen(variable->name), &(struct reply){&fields, sizeof fields, NULL, 0});
    variable->size = fields.size; // first: who finds the address asks for it
    __atomic_store_n(&variable->address[gpu_current()], fields.address, __ATOMIC_RELEASE);
    return status;
}

// Where managed variables are on the first device that has the module, they are on all.
static void place_managed(const struct module *module) {
    for (struct item *item = module->variables; item; item = item->next) {
        struct variable *variable = item->named;
        if (variable->shadow) {
            find_variable(variable);
        }
    }
}

int module_load(struct module *module) {
    pthread_mutex_lock(&loading);
    if (!module->loaded) {
        struct load_module_reply fields = {0};
        struct reply reply = {.fields = &fields, .size = sizeof fields};
        module->status =
            gpu_call(CALL_LOAD_MODULE, NULL, 0, module->image, module->bytes, &reply);
        module->handle = fields.module;
        module->loaded = true;
        if (!module->status) {
            place_managed(module);
        } else {
            module->problem = ask_problem();
        }
    }
    pthread_mutex_unlock(&loading);
    return module->status;
}

int module_make(struct module **out, const void *image, const struct jit_options *options) {
    if (!out || !image) {
        return INVALID_VALUE;
    }
    size_t bytes = image_bytes(image);
    if (!bytes) {
        return INVALID_IMAGE;
    }
    struct module *module = module_open(image, bytes);
    int status = module_load(module);
    jit_tell(options, module_problem(module));
    if (status) {
        module_drop(module);
        module = NULL;
    }
    *out = module;
    return status;
}

uint64_t module_handle(const struct module *module) {
    return module->handle;
}

void module_close(struct module *module) {
    if (module->loaded && !module->status) {
        struct unload_module_request request = {.module = module->handle};
        gpu_call(CALL_UNLOAD_MODULE, &request, sizeof request, NULL, 0, &(struct reply){0});
    }
    module->status = INVALID_HANDLE;
    module->loaded = true;
    handle_take(MODULE_HANDLE, module);
}

// Under the lock, as the search before it: two threads that look for the same one get the same.
static void add(struct item **list, const char *name, void *named) {
    struct item *item = malloc(sizeof *item);
    *item = (struct item){*list, name, named};
    *list = item;
}

static void *find(const struct item *item, const char *name) {
    while (item && strcmp(item->name, name)) {
        item = item->next;
    }
    return item ? item->named : NULL;
}

struct kernel *module_kernel(struct module *module, const char *name) {
    pthread_mutex_lock(&lock);
    struct kernel *kernel = find(module->kernels, name);
    if (!kernel) {
        kernel = calloc(1, sizeof *kernel);
        kernel->module = module;
        kernel->name = strdup(name);
        kernel->most_dynamic = kernel->carveout = -1;
        handle_add(KERNEL_HANDLE, kernel);
        add(&module->kernels, kernel->name, kernel);
    }
    pthread_mutex_unlock(&lock);
    return kernel;
}

int module_kernels(struct module *module, struct kernel **kernels, unsigned room, unsigned *count) {
    int status = module_load(module);
    if (status) {
        return status;
    }
    struct list_kernels_request request = {module->handle};
    struct reply reply = {0};
    status = gpu_call(CALL_LIST_KERNELS, &request, sizeof request, NULL, 0, &reply);
    unsigned found = 0;
    const char *name = reply.data, *end = name + reply.bytes;
    for (; !status && name < end; name += strlen(name) + 1, found++) {
        if (kernels && found < room) {
            kernels[found] = module_kernel(module, name);
        }
    }
    free(reply.data);
    if (count) {
        *count = found;
    }
    return status;
}

struct variable *module_variable(struct module *module, const char *name) {
    pthread_mutex_lock(&lock);
    struct variable *variable = find(module->variables, name);
    if (!variable) {
        variable = calloc(1, sizeof *variable);
        variable->module = module;
        variable->name = strdup(name);
        add(&module->variables, variable->name, variable);
    }
    pthread_mutex_unlock(&lock);
    return variable;
}

int variable_find(struct variable *variable) {
    if (__atomic_load_n(&variable->address[gpu_current()], __ATOMIC_ACQUIRE)) {
        return SUCCESS;
    }
    int status = module_load(variable->module);
    return status ? status : find_variable(variable);
}

uint64_t variable_address(const struct variable *variable) {
    return variable->address[gpu_current()];
}
