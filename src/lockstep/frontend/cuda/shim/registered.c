// Memory of the program's own that it registers. Copies work from any memory; when the program asks
// for the device's address of registered memory, its pages become a view of device memory.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu.h"

enum { PAGE = 4096, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713 };

static struct registered {
    struct registered *next;
    char *start;
    size_t bytes;
    char *pages; // that became a view; NULL = none yet
    size_t page_bytes;
    uint64_t allocation, address; // in device memory, of the allocation and of `pages`
} *list;
LOCK(lock);

static char *page_of(const char *address) {
    return (char *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
}

static struct registered *holding(const char *address) {
    struct registered *r = list;
    while (r && (size_t)(address - r->start) >= r->bytes) {
        r = r->next;
    }
    return r;
}

static bool overlaps(const char *start, const char *end) {
    for (struct registered *r = list; r; r = r->next) {
        if (r->start < end && start < r->start + r->bytes) {
            return true;
        }
    }
    return false;
}

int host_register(void *address, size_t bytes) {
    int status;
    if (!address || !bytes || !gpu_device(&status)) {
        return address && bytes ? status : INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    status = overlaps(address, (char *)address + bytes) ? ALREADY_REGISTERED : SUCCESS;
    if (!status) {
        struct registered *r = calloc(1, sizeof *r);
        *r = (struct registered){.next = list, .start = address, .bytes = bytes};
        list = r;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

// A view of these pages would show what another one shows, or the stack moves while it is made.
static bool cannot_be_viewed(const struct registered *self, const char *pages, size_t bytes) {
    char here;
    if ((size_t)(&here - pages) < bytes) {
        return true;
    }
    for (struct registered *r = list; r; r = r->next) {
        if (r != self && r->pages && r->pages < pages + bytes && pages < r->pages + r->page_bytes) {
            return true;
        }
    }
    return false;
}

static void give_back_allocation(uint64_t address) {
    struct free_request request = {address};
    gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
}

static int view(struct registered *r) {
    char *pages = page_of(r->start);
    size_t bytes = (size_t)(page_of(r->start + r->bytes - 1) + PAGE - pages);
    if (cannot_be_viewed(r, pages, bytes)) {
        return gpu_unsupported("the device's address of registered memory that shares pages");
    }
    struct allocate_request request = {bytes + PAGE, ALLOCATION_HOST};
    struct allocate_reply fields = {0};
    int status = GPU_CALL(ALLOCATE, &request, &fields);
    if (status) {
        return status;
    }
    const struct device *device = gpu_device(&status);
    uint64_t address = (fields.address + PAGE - 1) / PAGE * PAGE;
    memcpy((void *)(uintptr_t)address, pages, bytes);
    void *got = mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device->file,
                     (off_t)(address - device->base));
    if (got != pages) {
        give_back_allocation(fields.address);
        return OUT_OF_MEMORY;
    }
    r->pages = pages;
    r->page_bytes = bytes;
    r->allocation = fields.address;
    r->address = address;
    return SUCCESS;
}

int host_device_address(void *address, uint64_t *out) {
    if (gpu_is_device(address)) {
        *out = (uint64_t)(uintptr_t)address;
        return SUCCESS;
    }
    pthread_mutex_lock(&lock);
    struct registered *r = holding(address);
    int status = !r ? INVALID_VALUE : r->pages ? SUCCESS : view(r);
    if (!status) {
        *out = r->address + (uint64_t)((char *)address - r->pages);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

bool host_is_registered(const void *address) {
    pthread_mutex_lock(&lock);
    bool found = holding(address) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

// The pages become the program's own again, with what is in them: other threads find that all the
// time, as a copy comes into their place at once. The heap, and so what is known of them, may be in
// these pages: it is a copy that is given, and nothing is allocated meanwhile.
static int give_back(struct registered r) {
    int status = synchronize(0, 0);
    void *copy = mmap(NULL, r.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return OUT_OF_MEMORY;
    }
    memcpy(copy, (void *)(uintptr_t)r.address, r.page_bytes);
    mremap(copy, r.page_bytes, r.page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, r.pages);
    give_back_allocation(r.allocation);
    return status;
}

int host_unregister(void *address) {
    pthread_mutex_lock(&lock);
    struct registered **place = &list;
    while (*place && (*place)->start != (char *)address) {
        place = &(*place)->next;
    }
    struct registered *r = *place;
    int status = r ? SUCCESS : NOT_REGISTERED;
    if (r) {
        *place = r->next;
        status = r->pages ? give_back(*r) : SUCCESS;
        free(r);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
