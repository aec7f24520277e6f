// What programs hold of both APIs, by kind: a handle that is not here was never given, or is gone,
// and is not looked into. Beside the handles are addresses in the program that stand for something.

#include <pthread.h>
#include <stdlib.h>

#include "gpu.h"

// Open addressing; what was taken out keeps its place, without a value, until the table grows.
static struct entry {
    const void *key;
    enum handle_kind kind;
    void *value;
} *entries;
static size_t places, used;
LOCK(lock);

enum { FEWEST = 256, HASH_SHIFT = 32, KIND_SHIFT = 56 };

static struct entry *place_of(enum handle_kind kind, const void *key) {
    uint64_t both = (uint64_t)(uintptr_t)key ^ (uint64_t)kind << KIND_SHIFT;
    size_t k = both * 0x9E3779B97F4A7C15u >> HASH_SHIFT & (places - 1);
    while (entries[k].key && (entries[k].key != key || entries[k].kind != kind)) {
        k = (k + 1) & (places - 1);
    }
    return &entries[k];
}

static void grow(void) {
    struct entry *old = entries;
    size_t count = places, living = 0;
    for (size_t k = 0; k < count; k++) {
        living += old[k].value != NULL;
    }
    places = !count ? FEWEST : 4 * living >= count ? 2 * count : count;
    entries = calloc(places, sizeof *entries);
    used = living;
    for (size_t k = 0; k < count; k++) {
        if (old[k].value) {
            *place_of(old[k].kind, old[k].key) = old[k];
        }
    }
    free(old);
}

void handle_put(enum handle_kind kind, const void *key, void *value) {
    if (!key) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (2 * used >= places) {
        grow();
    }
    struct entry *entry = place_of(kind, key);
    used += entry->key == NULL;
    *entry = (struct entry){key, kind, value};
    pthread_mutex_unlock(&lock);
}

void *handle_get(enum handle_kind kind, const void *key) {
    pthread_mutex_lock(&lock);
    void *value = places && key ? place_of(kind, key)->value : NULL;
    pthread_mutex_unlock(&lock);
    return value;
}

bool handle_take(enum handle_kind kind, const void *key) {
    pthread_mutex_lock(&lock);
    struct entry *entry = places && key ? place_of(kind, key) : NULL;
    bool found = entry && entry->value;
    if (found) {
        entry->value = NULL;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
