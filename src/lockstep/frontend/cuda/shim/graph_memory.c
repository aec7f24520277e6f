// Memory that nodes of graphs allocate and free. An allocation has its address, and here its memory,
// from the day its node is made until neither a graph nor the program has it any more; programs may
// use it from when the node is performed until it is freed: by a node, also of another graph, or by
// cudaFree and cuMemFree. The rules are those of the CUDA C++ Programming Guide, "Graph Memory Nodes".

#include <pthread.h>
#include <stdlib.h>

#include "graph.h"

enum { USED, MOST_USED, RESERVED, MOST_RESERVED, ATTRIBUTES };

static struct graph_memory *list;
static uint64_t attributes[ATTRIBUTES]; // cudaGraphMemAttributeType
LOCK(lock);

static struct graph_memory *find(const void *address) {
    struct graph_memory *memory = list;
    while (memory && memory->address != address) {
        memory = memory->next;
    }
    return memory;
}

static void raise(unsigned attribute, uint64_t value) {
    if (attributes[attribute] < value) {
        attributes[attribute] = value;
    }
}

static void begin(struct graph_memory *memory) {
    memory->live = true;
    attributes[USED] += memory->bytes;
    raise(RESERVED, attributes[USED]);
    raise(MOST_USED, attributes[USED]);
    raise(MOST_RESERVED, attributes[RESERVED]);
}

// Gives the address back when nobody can come back to it.
static void release_unused(struct graph_memory *memory) {
    if (memory->live || memory->references) {
        return;
    }
    struct graph_memory **place = &list;
    while (*place != memory) {
        place = &(*place)->next;
    }
    *place = memory->next;
    struct free_request request = {(uint64_t)(uintptr_t)memory->address};
    gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
    free(memory);
}

static void end(struct graph_memory *memory) {
    memory->live = false;
    attributes[USED] -= memory->bytes;
    release_unused(memory);
}

int graph_memory_new(size_t bytes, struct graph_memory **out) {
    if (!bytes) {
        return INVALID_VALUE;
    }
    struct allocate_request request = {bytes, ALLOCATION_DEVICE};
    struct allocate_reply fields = {0};
    int status = GPU_CALL(ALLOCATE, &request, &fields);
    if (status) {
        return status;
    }
    struct graph_memory *memory = calloc(1, sizeof *memory);
    memory->address = (void *)(uintptr_t)fields.address;
    memory->bytes = bytes;
    memory->references = 1;
    pthread_mutex_lock(&lock);
    memory->next = list;
    list = memory;
    pthread_mutex_unlock(&lock);
    *out = memory;
    return SUCCESS;
}

// For a node that frees it; NULL if no graph allocates that address.
struct graph_memory *graph_memory_at(const void *address) {
    pthread_mutex_lock(&lock);
    struct graph_memory *memory = find(address);
    if (memory) {
        memory->references++;
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

struct graph_memory *graph_memory_share(struct graph_memory *memory) {
    pthread_mutex_lock(&lock);
    memory->references++;
    pthread_mutex_unlock(&lock);
    return memory;
}

void graph_memory_drop(struct graph_memory *memory) {
    pthread_mutex_lock(&lock);
    memory->references--;
    release_unused(memory);
    pthread_mutex_unlock(&lock);
}

int graph_memory_begin(struct graph_memory *memory) {
    pthread_mutex_lock(&lock);
    int status = memory->live ? INVALID_VALUE : SUCCESS;
    if (!status) {
        begin(memory);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int graph_memory_end(struct graph_memory *memory) {
    pthread_mutex_lock(&lock);
    int status = memory->live ? SUCCESS : INVALID_VALUE;
    if (!status) {
        end(memory);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int memory_free(uint64_t address) {
    pthread_mutex_lock(&lock);
    struct graph_memory *memory = find((void *)(uintptr_t)address);
    bool known = memory != NULL, live = known && memory->live;
    if (live) {
        end(memory);
    }
    pthread_mutex_unlock(&lock);
    if (known) {
        return live ? SUCCESS : INVALID_VALUE;
    }
    const void *start = (void *)(uintptr_t)address;
    struct share *share = pool_share(start);
    int status = gpu_call(CALL_FREE, &address, sizeof address, NULL, 0, &(struct reply){0});
    pool_gave(share, start, !status);
    return status;
}

// The host's memory and the device's have functions of their own to free it.
int memory_free_of(uint64_t address, bool host) {
    struct pointer_request request = {address};
    struct pointer_reply fields = {0};
    int status = GPU_CALL(POINTER, &request, &fields);
    if (!status && (fields.kind == ALLOCATION_HOST) != host) {
        return INVALID_VALUE;
    }
    return memory_free(address);
}

// The simulator has freed all: what graphs still name is never live again.
void graph_memory_reset(void) {
    pthread_mutex_lock(&lock);
    for (struct graph_memory *memory = list; memory; memory = memory->next) {
        memory->live = false;
        memory->address = NULL;
    }
    for (int k = 0; k < ATTRIBUTES; k++) {
        attributes[k] = 0;
    }
    pthread_mutex_unlock(&lock);
}

int graph_memory_get(int attribute, uint64_t *value) {
    if (attribute < 0 || attribute >= ATTRIBUTES || !value) {
        return INVALID_VALUE;
    }
    *value = attributes[attribute];
    return SUCCESS;
}

// Only the high-water marks can be set, and only to zero: they begin anew from what is in use.
int graph_memory_set(int attribute, const uint64_t *value) {
    bool mark = attribute == MOST_USED || attribute == MOST_RESERVED;
    if (!mark || !value || *value) {
        return INVALID_VALUE;
    }
    attributes[attribute] = attributes[attribute - 1];
    return SUCCESS;
}

void graph_memory_trim(void) {
    attributes[RESERVED] = attributes[USED];
}
