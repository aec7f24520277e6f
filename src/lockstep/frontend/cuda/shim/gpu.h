// What the replacement libcudart and libcuda share: the link to the simulator, modules, kernels,
// copies. One copy of this code, liblockstep_gpu.so, is loaded however many of them a program uses.
//
// Status codes are cudaError_t, which CUresult shares for everything that is returned here.

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"

// A lock of this library's, which a child of fork gets anew: another thread of its parent may have
// had it.
void lock_made_anew_at_fork(pthread_mutex_t *lock, int kind);
#define LOCK_AT_FORK(name, kind)                                                                   \
    __attribute__((constructor)) static void name##_at_fork(void) {                                \
        lock_made_anew_at_fork(&name, kind);                                                       \
    }                                                                                              \
    _Static_assert(true, "")
#define LOCK(name)                                                                                 \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER;                                       \
    LOCK_AT_FORK(name, PTHREAD_MUTEX_NORMAL)

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_COPY_DIRECTION = 21,
    INVALID_FUNCTION = 98,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY = 209,
    FILE_NOT_FOUND = 301,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_FAILURE = 719,
    NOT_SUPPORTED = 801,
    INVALID_CLUSTER_SIZE = 912,
    UNKNOWN = 999,
};

// The link (link.c)

struct reply {
    void *fields; // where the fields of the answer go, or NULL
    size_t size;
    void *data;   // what follows them: allocated here, freed by the caller
    size_t bytes;
};

// Asks the simulator; connects at first. Thread-safe.
int gpu_call(unsigned call, const void *fields, size_t size, const void *data, size_t bytes,
             struct reply *reply);

#define GPU_CALL(NAME, request, answer)                                                            \
    gpu_call(CALL_##NAME, (request), sizeof *(request), NULL, 0,                                   \
             &(struct reply){.fields = (answer), .size = sizeof *(answer)})
#define GPU_TELL(NAME, request) gpu_call(CALL_##NAME, (request), sizeof *(request), NULL, 0, NULL)

// A device as the simulator described it; NULL without a connection.
struct device {
    uint64_t base; // of the memory of all devices
    uint64_t capacity;
    const char *name;
    const int32_t *attributes;
    int count; // of attributes
    int file;  // of the memory of all devices
};
const struct device *gpu_device(int *status); // that the thread has set
const struct device *gpu_device_of(int number); // of a number that gpu_check has found good
int gpu_count(int *status);                     // of devices; 0 without a connection
int gpu_check(int number);                      // INVALID_DEVICE if there is no such one
// The device of the calling thread: the calls that it makes are of that one.
int gpu_current(void);
void gpu_set_current(int number);
int gpu_attribute(int attribute); // 0 if it is unknown
int gpu_attribute_of(int number, int attribute);
int gpu_ask_attribute(int number, int attribute, int *value);
int gpu_peer_access(int number, int peer, int action, int *can); // PEER_CAN ...
bool gpu_is_device(const void *address);
int gpu_unsupported(const char *name);

// Whether the runtime API has made the context of the thread's device its current one.
bool gpu_has_context(void);
void gpu_keep_context(bool has);

// What a program advises of managed memory (advice.c). Devices are numbers or ON_THE_HOST.

enum { ON_THE_HOST = -1 }; // cudaCpuDeviceId
enum {                     // cudaMemoryAdvise, and what is kept beside it
    SET_READ_MOSTLY = 1,
    UNSET_READ_MOSTLY,
    SET_PREFERRED,
    UNSET_PREFERRED,
    SET_ACCESSED,
    UNSET_ACCESSED,
    PREFETCHED,
    FORGOTTEN,
};
int advise(const void *address, size_t bytes, int advice, int device);
int advice_of(void *data, size_t size, int attribute, const void *address, size_t bytes);

// Modules and kernels (modules.c)

struct module;

struct kernel {
    struct module *module;
    const char *name;
    const void *stub; // by which the runtime API knows it, or NULL
    int status;       // of looking it up
    uint64_t handle; // 0 = not looked up yet
    struct find_kernel_reply facts;
    uint64_t *parameters; // offset and size of each
    int most_dynamic;     // bytes of dynamic shared memory that were allowed; -1 = the default
    int carveout;
    bool not_portable; // clusters of more than eight CTAs were allowed
};

struct variable {
    struct module *module;
    const char *name;
    void **shadow; // the host's pointer to a managed variable, or NULL
    uint64_t address[MOST_DEVICES], size;
};

void *image_read(const char *path); // a file's content, which the caller frees; NULL: none
// The image is read when something of the module is first needed.
struct module *module_open(const void *image, size_t bytes);
void module_drop(struct module *module); // one that could not be loaded
int module_load(struct module *module);
const char *module_problem(const struct module *module); // why it could not be loaded, or ""
// Its kernels, as many as there is room for, and how many it has. Each place may be NULL.
int module_kernels(struct module *module, struct kernel **kernels, unsigned room, unsigned *count);
void module_close(struct module *module);
struct kernel *module_kernel(struct module *module, const char *name);
struct variable *module_variable(struct module *module, const char *name);
size_t image_bytes(const void *image); // of a fat binary, a cubin or PTX text; 0 = none of them

uint64_t module_handle(const struct module *module);
int variable_find(struct variable *variable); // on the thread's device
uint64_t variable_address(const struct variable *variable);

// Options that programs give the compiler of PTX (jit_options.c)
struct jit_options {
    unsigned count;
    const int *names;
    void **values;
};
void jit_tell(const struct jit_options *options, const char *problem); // "": there was none
// Opens a module, loads it, and tells what comes of that.
int module_make(struct module **out, const void *image, const struct jit_options *options);
int ptx_check(const char *text, size_t bytes, const struct jit_options *options);

// What programs hold (handles.c): to each kind and handle a value that is not NULL, of objects the
// object itself or the one that has it.

enum handle_kind {
    NAMED_ADDRESS,    // of a kernel's stub or a variable's shadow
    STREAM_HANDLE,    // flags, as are those of the next two
    EVENT_HANDLE,
    HOST_MEMORY,
    POOL_MEMORY,      // its pool and bytes
    POOL_HANDLE,
    STREAM_ATTRIBUTE,
    TEXTURE_HANDLE,
    ARRAY_HANDLE,
    MIPMAPPED_HANDLE,
    MODULE_HANDLE,
    KERNEL_HANDLE,
    LINKING_HANDLE,
    GRAPH_HANDLE,     // also those that can be launched
    NODE_HANDLE,
    USER_OBJECT_HANDLE,
    PHYSICAL_HANDLE,
};
void handle_put(enum handle_kind kind, const void *key, void *value);
void *handle_get(enum handle_kind kind, const void *key); // NULL: there is none, as of NULL
bool handle_take(enum handle_kind kind, const void *key); // away; false: there was none

static inline void handle_add(enum handle_kind kind, void *handle) {
    handle_put(kind, handle, handle);
}

static inline bool module_lives(const struct module *module) {
    return handle_get(MODULE_HANDLE, module) != NULL;
}

// Answers with what is known here, if there is a place for it.
#define GIVE(place, value) ((place) ? (*(place) = (value), SUCCESS) : INVALID_VALUE)

// The flags that streams, events and host memory were made with.
#define KNOWN ((uintptr_t)1 << 32) // so that they are never NULL
static inline void keep_flags(enum handle_kind kind, void *handle, unsigned flags) {
    handle_put(kind, handle, (void *)(KNOWN | flags));
}

static inline unsigned flags_of(enum handle_kind kind, const void *handle) {
    return (unsigned)(uintptr_t)handle_get(kind, handle);
}

// Of streams, beside the flags: priorities from 0 to MOST_PRIORITY, which is the least number. All
// streams are served alike.
enum { NON_BLOCKING = 1 }; // cudaStreamNonBlocking
enum { MOST_PRIORITY = -5, PRIORITY_SHIFT = 8, DEVICE_SHIFT = 16 };
static inline void keep_priority(void *stream, unsigned flags, int priority) {
    priority = priority > 0 ? 0 : priority < MOST_PRIORITY ? MOST_PRIORITY : priority;
    keep_flags(STREAM_HANDLE, stream, flags | (unsigned)-priority << PRIORITY_SHIFT |
                                          (unsigned)gpu_current() << DEVICE_SHIFT);
}
static inline int priority_of(const void *stream) {
    return -(int)(flags_of(STREAM_HANDLE, stream) >> PRIORITY_SHIFT & 0xff);
}
static inline bool is_default_stream(const void *stream) {
    return (uintptr_t)stream <= STREAM_BLOCKING;
}
// Whether the program's calls are those for which the default stream is the thread's: all are, once
// one was, as programs are compiled for one or the other.
void stream_default_is_per_thread(void);
bool stream_default_of_thread(void);
enum { LEGACY_STREAM = 1, THREAD_STREAM = 2 }; // cudaStreamLegacy, cudaStreamPerThread
// The simulator has one stream that is the default one of all threads. Here each thread has its own,
// whose name is made of that and the thread.
unsigned thread_number(void);
static inline uint64_t stream_of_thread(void) {
    return (uint64_t)thread_number() << 32 | THREAD_STREAM;
}
static inline uint64_t stream_handle(uint64_t stream) {
    return (uint32_t)stream == THREAD_STREAM ? THREAD_STREAM : stream;
}
static inline bool stream_is_legacy(uint64_t stream) {
    return stream == LEGACY_STREAM ||
           ((!stream || stream == STREAM_BLOCKING) && !stream_default_of_thread());
}
static inline int device_of(const void *stream) {
    return is_default_stream(stream) ? gpu_current()
                                     : (int)(flags_of(STREAM_HANDLE, stream) >> DEVICE_SHIFT);
}
// INVALID_HANDLE if there is no such stream.
static inline int stream_check(const void *stream) {
    bool is_there = is_default_stream(stream) || handle_get(STREAM_HANDLE, stream);
    return is_there ? SUCCESS : INVALID_HANDLE;
}
static inline bool stream_blocks(const void *stream) { // it and the legacy one wait for each other
    return is_default_stream(stream) || !(flags_of(STREAM_HANDLE, stream) & NON_BLOCKING);
}
int stream_attribute(void *value, void *stream, int attribute);
int stream_set_attribute(void *stream, int attribute, const void *value);
int stream_copy_attributes(void *to, void *stream);

// Kernels (kernels.c)

int kernel_find(struct kernel *kernel);

struct shape {
    unsigned grid[3], block[3];
    uint64_t dynamic_shared, stream;
    bool cooperative;
    unsigned cluster[3]; // 0 = nothing is said of clusters
};
enum { BUFFER_POINTER = 1, BUFFER_SIZE = 2 }; // what follows, where programs pass a block
// `arguments` points to each parameter's value, or `block` holds them all.
int kernel_launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  const void *block, size_t bytes);

// The parameters' values in one block, allocated here.
void *kernel_block(const struct kernel *kernel, void **arguments);

// CUfunction_attribute, which cudaFuncAttribute shares as far as it goes.
enum {
    MOST_THREADS,
    STATIC_SHARED,
    CONSTANT_BYTES,
    LOCAL_BYTES,
    REGISTERS,
    PTX_VERSION,
    BINARY_VERSION,
    CACHE_MODE,
    MOST_DYNAMIC,
    CARVEOUT,
    CLUSTER_MUST_BE_SET,
    CLUSTER_WIDTH,
    CLUSTER_HEIGHT,
    CLUSTER_DEPTH,
    NOT_PORTABLE,
    CLUSTER_POLICY,
    FUNCTION_ATTRIBUTES,
};
int kernel_attribute(struct kernel *kernel, int attribute, int *value);
int kernel_set_attribute(struct kernel *kernel, int attribute, int value);
int kernel_parameter(struct kernel *kernel, size_t number, size_t *offset, size_t *bytes);

// CTAs of a kernel that an SM holds; the dynamic shared memory that so many CTAs leave each other;
// the largest block among those that keep most threads resident.
int kernel_occupancy(struct kernel *kernel, int threads, size_t shared, int *ctas);
int kernel_shared_room(struct kernel *kernel, int ctas, size_t *bytes);
int kernel_best_block(struct kernel *kernel, size_t (*shared_of)(int), size_t shared, int limit,
                      int *grid, int *block);

// Clusters of a launch that the GPU holds at once; the largest size of which it holds one.
int kernel_clusters(struct kernel *kernel, const struct shape *shape, int *clusters);
int kernel_largest_cluster(struct kernel *kernel, const struct shape *shape, int *ctas);

// What cudaLaunchKernelExC and cuLaunchKernelEx are given; the members that matter.
struct launch_attribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        int number;
        unsigned cluster[3];
    } value;
};
enum { COOPERATIVE = 2, SYNCHRONIZATION_POLICY = 3, CLUSTER_DIMENSION = 4, PRIORITY = 8 };
enum { AUTOMATIC = 1 }; // cudaSynchronizationPolicy
int launch_attributes(const struct launch_attribute *attributes, unsigned count,
                      struct shape *shape);

// Errors, limits and memory pools (error_table.c, limits.c, pools.c)

struct error {
    int number;
    const char *runtime_name, *driver_name, *text;
};
const struct error *error_find(int number); // NULL if there is none
int limit_get(size_t *value, int limit);
int limit_set(int limit, size_t value);
int device_reset(void); // the limits are those of a new context, too
struct pool;
static inline bool is_pool(const struct pool *pool) {
    return handle_get(POOL_HANDLE, pool) != NULL;
}
struct pool *pool_new(int device, size_t most_bytes); // 0 = as many as there are
bool pool_has_room(struct pool *pool, size_t bytes);
struct pool *pool_default(int device);
struct pool *pool_current(int device);
int pool_choose(int device, struct pool *pool); // to be the current one
int pool_end(struct pool *pool);
int pool_get(struct pool *pool, int attribute, void *value);
int pool_set(struct pool *pool, int attribute, const void *value);
int pool_trim(struct pool *pool, size_t keep);
void pool_took(struct pool *pool, const void *address, size_t bytes); // memory of a pool, ...
// ... freed: what the pool knows of it is taken out before, since another thread may get the same
// address at once, and put back if it is not freed. NULL: it is other memory.
struct share *pool_share(const void *address);
void pool_gave(struct share *share, const void *address, bool freed);
void pool_reset(void);

// Memory of the program's own that it registers (registered.c)

int host_register(void *address, size_t bytes);
int host_unregister(void *address);
bool host_is_registered(const void *address);
int host_device_address(void *address, uint64_t *out); // also of memory that is the device's

// Copies (copies.c)

// In the place of a stream: the default one, and the caller waits.
#define BLOCKING ((void *)(uintptr_t)STREAM_BLOCKING)

struct region {
    void *address;
    size_t pitch;
};
// Rectangles of `rows` rows of `width` bytes, wherever they are; in a stream, or STREAM_BLOCKING.
int copy_rectangle(struct region to, struct region source, size_t width, size_t rows,
                   uint64_t stream);
// Slices of such rectangles, so many bytes apart.
struct box {
    struct region to, source;
    size_t to_slice, source_slice;
    size_t width, rows, slices;
};
int copy_box(const struct box *box, uint64_t stream);
// Memory for rows that begin at a multiple of what hardware likes; OUT_OF_MEMORY: no size can be so
// large.
int pitched_bytes(size_t width, size_t rows, size_t slices, size_t *pitch, size_t *bytes);
bool product(size_t *out, size_t a, size_t b, size_t c); // false: it does not fit
int fill_rectangle(struct region to, uint64_t value, size_t unit, size_t width, size_t rows,
                   uint64_t stream);

// While streams are captured, calls that may wait for what they run are errors that spoil captures:
// the modes with which these began, and that of the thread, say whether (capture.c).
enum { GLOBAL_MODE, THREAD_LOCAL_MODE, RELAXED_MODE }; // cudaStreamCaptureMode
int capture_forbids(void);         // SUCCESS: the thread may make such a call
int capture_forbids_waiting(void); // the same of a call that waits for the whole device
int capture_forbids_legacy(uint64_t stream); // the same of the legacy stream, if it is that
int capture_exchange_mode(int *mode);

// What a program enqueues in a stream is done now, or kept for the graph for which the stream is
// captured (enqueue.c).
int stream_launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  const void *block, size_t bytes);
int stream_copy(uint64_t stream, struct region to, struct region source, size_t width,
                size_t rows);
int stream_copy_box(uint64_t stream, const struct box *box);
int stream_fill(uint64_t stream, struct region to, uint64_t value, size_t unit, size_t width,
                size_t rows);
int stream_call(uint64_t stream, void (*function)(void *), void *data);
// Calls a function of the program that is told the stream and its status.
int stream_call_back(uint64_t stream, void (*function)(void *, int, void *), void *data);
int event_new(uint64_t *event);
int stream_record(uint64_t stream, uint64_t event, unsigned flags);
int stream_wait(uint64_t stream, uint64_t event, unsigned flags);
int stream_may_enqueue(uint64_t stream); // why not, or SUCCESS
int stream_synchronize(uint64_t stream);
int stream_query(uint64_t stream);
int event_query(uint64_t event);
int device_synchronize(void); // waits for all that was enqueued
int synchronize(uint64_t stream, uint64_t event); // whatever is captured; 0 and 0 = with all
int event_synchronize(uint64_t event);
int stream_allocate(uint64_t stream, size_t bytes, struct pool *pool, uint64_t *address);
int stream_free(uint64_t stream, uint64_t address);

// Streams that wait for a value in memory (held.c)
bool stream_is_held(uint64_t stream);
bool event_is_pending(uint64_t event);            // it is recorded in one, behind the wait
void event_supersede(uint64_t event);             // it is recorded again
bool held_destroy(unsigned call, uint64_t handle); // true: what it stands for ends later
void held_drop(void);

// Waiting for those (patience.c)
int held_resolve(uint64_t stream, uint64_t event); // waits for one of them, or for all (0 and 0)
int held_query(uint64_t stream, uint64_t event);
void held_expect_processes(void); // others may write what is waited for

int memory_free(uint64_t address); // also of a graph (graph_memory.c)
int memory_free_of(uint64_t address, bool host); // only if it is, or is not, the host's
void graph_memory_reset(void);
