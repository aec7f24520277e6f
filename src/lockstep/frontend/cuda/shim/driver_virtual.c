// Virtual memory of the driver API: addresses that are reserved, and memory that is mapped there.
//
// A reserved range is device memory from the beginning: who accesses what is not mapped is not
// stopped. Memory is mapped at one place at a time, and keeps its content where it is at none.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { GRANULARITY = 2 << 20, READ_AND_WRITE = 3 };

// CUmemAllocationProp
struct properties {
    int type, handle_types;
    struct location {
        int type, id;
    } location;
    void *metadata;
    char flags[8];
};

struct physical {
    size_t bytes;
    struct properties properties;
    unsigned handles; // that the program has
    bool mapped;
    void *content; // while it is nowhere
};

// A part of the addresses; `memory` is mapped there, or it is reserved and begins at `given`.
struct range {
    struct range *next;
    pointer_t start;
    size_t bytes;
    pointer_t given;
    struct physical *memory;
};

LOCK(lock);
static struct range *reserved, *mapped;

static bool holds(const struct range *range, pointer_t start, size_t bytes) {
    return start >= range->start && bytes <= range->bytes
        && start - range->start <= range->bytes - bytes;
}

static struct range **find(struct range **list, pointer_t start, size_t bytes) {
    while (*list && !holds(*list, start, bytes)) {
        list = &(*list)->next;
    }
    return list;
}

static bool meets_a_mapping(pointer_t start, size_t bytes) {
    for (struct range *range = mapped; range; range = range->next) {
        if (range->start < start + bytes && start < range->start + range->bytes) {
            return true;
        }
    }
    return false;
}

// How much of a range mappings within it cover.
static size_t mapped_within(const struct range *whole) {
    size_t found = 0;
    for (struct range *range = mapped; range; range = range->next) {
        found += holds(whole, range->start, range->bytes) ? range->bytes : 0;
    }
    return found;
}

static void add(struct range **list, struct range range) {
    struct range *added = malloc(sizeof *added);
    *added = range;
    added->next = *list;
    *list = added;
}

static void take_out(struct range **place) {
    struct range *range = *place;
    *place = range->next;
    free(range);
}

static bool is_round(size_t bytes) {
    return bytes && bytes % GRANULARITY == 0;
}

static bool has_handle(const struct physical *memory) {
    return handle_get(PHYSICAL_HANDLE, memory) != NULL;
}

static void drop_unused(struct physical *memory) {
    if (!memory->handles && !memory->mapped) {
        free(memory->content);
        free(memory);
    }
}

API int cuMemGetAllocationGranularity(size_t *out, const struct properties *properties,
                                      int option) {
    (void)option;
    return properties ? GIVE(out, GRANULARITY) : INVALID_VALUE;
}

API int cuMemAddressReserve(pointer_t *out, size_t bytes, size_t alignment, pointer_t hint,
                            unsigned long long flags) {
    (void)hint, (void)flags;
    if (!out || !is_round(bytes) || alignment & (alignment - 1)) {
        return INVALID_VALUE;
    }
    size_t unit = alignment > GRANULARITY ? alignment : GRANULARITY, all;
    if (__builtin_add_overflow(bytes, unit, &all)) {
        return OUT_OF_MEMORY;
    }
    pointer_t given;
    int status = cuMemAlloc(&given, all);
    if (!status) {
        *out = (given + unit - 1) / unit * unit;
        pthread_mutex_lock(&lock);
        add(&reserved, (struct range){NULL, *out, bytes, given, NULL});
        pthread_mutex_unlock(&lock);
    }
    return status;
}

API int cuMemAddressFree(pointer_t start, size_t bytes) {
    pthread_mutex_lock(&lock);
    struct range **place = find(&reserved, start, bytes);
    bool right = *place && (*place)->start == start && (*place)->bytes == bytes
              && !meets_a_mapping(start, bytes);
    pointer_t given = right ? (*place)->given : 0;
    if (right) {
        take_out(place);
    }
    pthread_mutex_unlock(&lock);
    return right ? cuMemFree(given) : INVALID_VALUE;
}

API int cuMemCreate(struct physical **out, size_t bytes, const struct properties *properties,
                    unsigned long long flags) {
    (void)flags;
    if (!out || !properties || !is_round(bytes)) {
        return INVALID_VALUE;
    }
    if (properties->handle_types) {
        return gpu_unsupported("cuMemCreate of memory for other processes");
    }
    *out = malloc(sizeof **out);
    **out = (struct physical){bytes, *properties, 1, false, NULL};
    handle_add(PHYSICAL_HANDLE, *out);
    return SUCCESS;
}

API int cuMemRelease(struct physical *memory) {
    pthread_mutex_lock(&lock);
    bool right = has_handle(memory);
    if (right && !--memory->handles) {
        handle_take(PHYSICAL_HANDLE, memory);
        drop_unused(memory);
    }
    pthread_mutex_unlock(&lock);
    return right ? SUCCESS : INVALID_VALUE;
}

static int map(pointer_t start, size_t bytes, struct physical *memory) {
    if (!*find(&reserved, start, bytes) || meets_a_mapping(start, bytes)) {
        return INVALID_VALUE;
    }
    if (memory->mapped) {
        return gpu_unsupported("cuMemMap of memory that is mapped already");
    }
    if (memory->content) {
        memcpy((void *)(uintptr_t)start, memory->content, bytes);
        free(memory->content);
        memory->content = NULL;
    }
    memory->mapped = true;
    add(&mapped, (struct range){NULL, start, bytes, 0, memory});
    return SUCCESS;
}

API int cuMemMap(pointer_t start, size_t bytes, size_t offset, struct physical *memory,
                 unsigned long long flags) {
    if (!is_round(bytes) || offset || flags) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    bool right = has_handle(memory) && bytes <= memory->bytes;
    int status = right ? map(start, bytes, memory) : INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return status;
}

static void unmap(struct range **place) {
    struct physical *memory = (*place)->memory;
    memory->mapped = false;
    if (memory->handles) {
        memory->content = calloc(1, memory->bytes); // a part of it may have been mapped
        memcpy(memory->content, (void *)(uintptr_t)(*place)->start, (*place)->bytes);
    }
    drop_unused(memory);
    take_out(place);
}

// All mappings within the range, none of which may reach out of it.
API int cuMemUnmap(pointer_t start, size_t bytes) {
    int status = synchronize(0, 0);
    if (status) {
        return translate(status);
    }
    const struct range whole = {NULL, start, bytes, 0, NULL};
    pthread_mutex_lock(&lock);
    bool right = mapped_within(&whole) == bytes;
    for (struct range **place = &mapped; right && *place;) {
        if (holds(&whole, (*place)->start, (*place)->bytes)) {
            unmap(place);
        } else {
            place = &(*place)->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return right ? SUCCESS : INVALID_VALUE;
}

API int cuMemSetAccess(pointer_t start, size_t bytes, const void *accesses, size_t count) {
    if (!accesses || !count) {
        return INVALID_VALUE;
    }
    const struct range whole = {NULL, start, bytes, 0, NULL};
    pthread_mutex_lock(&lock);
    bool right = is_round(bytes) && mapped_within(&whole) == bytes;
    pthread_mutex_unlock(&lock);
    return right ? SUCCESS : INVALID_VALUE;
}

API int cuMemGetAccess(unsigned long long *flags, const struct location *location,
                       pointer_t address) {
    if (!flags || !location) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    bool is_mapped = *find(&mapped, address, 1);
    pthread_mutex_unlock(&lock);
    *flags = is_mapped ? READ_AND_WRITE : 0;
    return is_mapped ? SUCCESS : INVALID_VALUE;
}

API int cuMemRetainAllocationHandle(struct physical **out, void *address) {
    if (!out) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    struct range *range = *find(&mapped, handle_of(address), 1);
    if (range) {
        *out = range->memory;
        range->memory->handles++;
        handle_add(PHYSICAL_HANDLE, range->memory);
    }
    pthread_mutex_unlock(&lock);
    return range ? SUCCESS : INVALID_VALUE;
}

API int cuMemGetAllocationPropertiesFromHandle(struct properties *out,
                                               const struct physical *memory) {
    return has_handle(memory) ? GIVE(out, memory->properties) : INVALID_VALUE;
}
