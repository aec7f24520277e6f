// What a program advised of managed memory, and where it moved it: kept for who asks, of the program
// alone. Nothing moves, and nothing is read-only: see cudaMemAdvise.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { NOWHERE = -2 }; // cudaInvalidDeviceId
enum { ON_DEVICE = 1, ON_HOST = 2 }; // cudaMemLocationType
enum { HOST_BIT = 63 };

// Addresses of which the same was said. All are apart and in order.
struct range {
    uintptr_t start, end;
    bool read_mostly;
    int preferred, prefetched; // of a device, ON_THE_HOST or NOWHERE
    uint64_t accessed;         // a bit for each device, the last for the host
    struct range *next;
};

static struct range *ranges;
LOCK(lock);

static const struct range fresh = {.preferred = NOWHERE, .prefetched = NOWHERE};

static struct range *made(const struct range *like, uintptr_t start, uintptr_t end,
                          struct range *next) {
    struct range *range = malloc(sizeof *range);
    *range = *like;
    range->start = start;
    range->end = end;
    range->next = next;
    return range;
}

// The place in the list of the first range that does not begin before an address; none holds both
// sides of it.
static struct range **cut(uintptr_t place) {
    struct range **at = &ranges;
    while (*at && (*at)->end <= place) {
        at = &(*at)->next;
    }
    if (*at && (*at)->start < place) {
        struct range *whole = *at;
        whole->next = made(whole, place, whole->end, whole->next);
        whole->end = place;
        at = &whole->next;
    }
    return at;
}

// The first of ranges that have all addresses from `start` to `end`, and of these no others.
static struct range *cover(uintptr_t start, uintptr_t end) {
    cut(end);
    struct range **first = cut(start), **at = first;
    while (start < end) {
        if (!*at || (*at)->start > start) {
            *at = made(&fresh, start, *at && (*at)->start < end ? (*at)->start : end, *at);
        }
        start = (*at)->end;
        at = &(*at)->next;
    }
    return *first;
}

static uint64_t bit_of(int device) {
    return 1ULL << (device == ON_THE_HOST ? HOST_BIT : device);
}

static void change(struct range *range, int advice, int device) {
    switch (advice) {
    case SET_READ_MOSTLY:
    case UNSET_READ_MOSTLY:
        range->read_mostly = advice == SET_READ_MOSTLY;
        break;
    case SET_PREFERRED:
    case UNSET_PREFERRED:
        range->preferred = advice == SET_PREFERRED ? device : NOWHERE;
        break;
    case SET_ACCESSED:
        range->accessed |= bit_of(device);
        break;
    case UNSET_ACCESSED:
        range->accessed &= ~bit_of(device);
        break;
    case PREFETCHED:
        range->prefetched = device;
        break;
    case FORGOTTEN: {
        struct range kept = *range;
        *range = fresh;
        range->start = kept.start, range->end = kept.end, range->next = kept.next;
    }
    }
}

// Only of managed memory can anything be said.
static int check_managed(const void *address) {
    struct pointer_request request = {(uint64_t)(uintptr_t)address};
    struct pointer_reply found = {0};
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    status = gpu_is_device(address) ? GPU_CALL(POINTER, &request, &found) : INVALID_VALUE;
    return status || found.kind == ALLOCATION_MANAGED ? status : INVALID_VALUE;
}

int advise(const void *address, size_t bytes, int advice, int device) {
    uintptr_t start = (uintptr_t)address, end = start + bytes;
    if (device != ON_THE_HOST && (device < 0 || device >= MOST_DEVICES)) {
        return INVALID_DEVICE;
    }
    int status = advice == FORGOTTEN ? SUCCESS : check_managed(address);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&lock);
    if (bytes && (ranges || advice != FORGOTTEN)) {
        for (struct range *r = cover(start, end); r && r->start < end; r = r->next) {
            change(r, advice, device);
        }
    }
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

// What is the same in all of some addresses.
static struct range common(uintptr_t start, uintptr_t end) {
    struct range *r = cover(start, end), all = *r;
    for (r = r->next; r && r->start < end; r = r->next) {
        all.read_mostly &= r->read_mostly;
        all.preferred = all.preferred == r->preferred ? all.preferred : NOWHERE;
        all.prefetched = all.prefetched == r->prefetched ? all.prefetched : NOWHERE;
        all.accessed &= r->accessed;
    }
    return all;
}

static void list_devices(int *out, size_t count, uint64_t accessed) {
    size_t n = 0;
    for (int bit = 0; bit <= HOST_BIT && n < count; bit++) {
        if (accessed >> bit & 1) {
            out[n++] = bit == HOST_BIT ? ON_THE_HOST : bit;
        }
    }
    while (n < count) {
        out[n++] = NOWHERE;
    }
}

static int type_of(int device) {
    return device == NOWHERE ? 0 : device == ON_THE_HOST ? ON_HOST : ON_DEVICE;
}

// cudaMemRangeAttribute
enum {
    READ_MOSTLY = 1,
    PREFERRED_LOCATION,
    ACCESSED_BY,
    LAST_PREFETCH,
    PREFERRED_TYPE,
    PREFERRED_NUMBER,
    PREFETCH_TYPE,
    PREFETCH_NUMBER,
};

int advice_of(void *data, size_t size, int attribute, const void *address, size_t bytes) {
    int status = check_managed(address);
    if (status || !data || size < sizeof(int) || size % sizeof(int) || !bytes) {
        return status ? status : INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    struct range all = common((uintptr_t)address, (uintptr_t)address + bytes);
    pthread_mutex_unlock(&lock);
    const int answers[] = {
        [READ_MOSTLY] = all.read_mostly,       [PREFERRED_LOCATION] = all.preferred,
        [LAST_PREFETCH] = all.prefetched,      [PREFERRED_TYPE] = type_of(all.preferred),
        [PREFERRED_NUMBER] = all.preferred,    [PREFETCH_TYPE] = type_of(all.prefetched),
        [PREFETCH_NUMBER] = all.prefetched,
    };
    if (attribute == ACCESSED_BY) {
        list_devices(data, size / sizeof(int), all.accessed);
    } else if (attribute < READ_MOSTLY || attribute > PREFETCH_NUMBER || size != sizeof(int)) {
        return INVALID_VALUE;
    } else {
        *(int *)data = answers[attribute];
    }
    return SUCCESS;
}
