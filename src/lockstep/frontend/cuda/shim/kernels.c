// Kernels: looked up when they are first used, launched, asked for attributes and occupancy.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { SHARED_PER_BLOCK = 8, MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76, SHARED_OPT_IN = 97 };
enum { SHARED_PER_SM = 81, SHARED_RESERVED = 111, SHARED_UNIT = 128 };
enum { CLUSTER_LAUNCH = 120 };
enum { WARP = 32, PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

LOCK(lock); // two threads may launch a kernel first

static int find(struct kernel *kernel) {
    if (kernel->handle || kernel->status) {
        return kernel->status;
    }
    int status = module_load(kernel->module);
    if (status) {
        return status;
    }
    struct find_kernel_request request = {.module = module_handle(kernel->module)};
    struct reply reply = {.fields = &kernel->facts, .size = sizeof kernel->facts};
    kernel->status = gpu_call(CALL_FIND_KERNEL, &request, sizeof request, kernel->name,
                              strlen(kernel->name), &reply);
    kernel->parameters = reply.data;
    kernel->handle = kernel->facts.kernel;
    return kernel->status;
}

int kernel_find(struct kernel *kernel) {
    pthread_mutex_lock(&lock);
    int status = find(kernel);
    pthread_mutex_unlock(&lock);
    return status;
}

// Without opting in (cudaFuncSetAttribute) static and dynamic shared memory share 48 KB.
static int most_dynamic(const struct kernel *kernel) {
    return kernel->most_dynamic < 0
               ? gpu_attribute(SHARED_PER_BLOCK) - (int)kernel->facts.shared_bytes
               : kernel->most_dynamic;
}

static int send_launch(struct kernel *kernel, const struct shape *shape, const void *block,
                       size_t bytes) {
    struct launch_request request = {
        .kernel = kernel->handle,
        .grid_x = shape->grid[0],
        .grid_y = shape->grid[1],
        .grid_z = shape->grid[2],
        .block_x = shape->block[0],
        .block_y = shape->block[1],
        .block_z = shape->block[2],
        .dynamic_shared = shape->dynamic_shared,
        .stream = shape->stream,
        .cooperative = shape->cooperative,
        .cluster_x = shape->cluster[0],
        .cluster_y = shape->cluster[1],
        .cluster_z = shape->cluster[2],
        .portable = !kernel->not_portable,
    };
    return gpu_call(CALL_LAUNCH, &request, sizeof request, block, bytes, &(struct reply){0});
}

void *kernel_block(const struct kernel *kernel, void **arguments) {
    char *values = calloc(1, kernel->facts.parameter_bytes + 1);
    for (uint64_t k = 0; k < kernel->facts.parameters; k++) {
        if (!arguments || !arguments[k]) {
            free(values);
            return NULL;
        }
        memcpy(values + kernel->parameters[2 * k], arguments[k], kernel->parameters[2 * k + 1]);
    }
    return values;
}

int kernel_launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  const void *block, size_t bytes) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    if (shape->dynamic_shared > (uint64_t)most_dynamic(kernel)) {
        return INVALID_VALUE;
    }
    if (block) {
        return send_launch(kernel, shape, block, bytes);
    }
    void *values = kernel_block(kernel, arguments);
    if (!values) {
        return INVALID_VALUE;
    }
    status = send_launch(kernel, shape, values, kernel->facts.parameter_bytes);
    free(values);
    return status;
}

int launch_attributes(const struct launch_attribute *attributes, unsigned count,
                      struct shape *shape) {
    if (count && !attributes) {
        return INVALID_VALUE;
    }
    for (unsigned k = 0; k < count; k++) {
        const unsigned *cluster = attributes[k].value.cluster;
        if (attributes[k].id == COOPERATIVE) {
            shape->cooperative = attributes[k].value.number != 0;
        } else if (attributes[k].id == CLUSTER_DIMENSION) {
            if (cluster[0] * cluster[1] * cluster[2] > 1 && !gpu_attribute(CLUSTER_LAUNCH)) {
                return gpu_unsupported("a launch with clusters");
            }
            memcpy(shape->cluster, cluster, sizeof shape->cluster);
        }
    }
    return SUCCESS;
}

enum { STREAM_ATTRIBUTES = 16 };

// Streams are numbers.
static const void *attribute_key(void *stream, int attribute) {
    return (const void *)((uintptr_t)stream * STREAM_ATTRIBUTES + (uintptr_t)attribute + 1);
}

// What a program prefers of caches and of waiting changes nothing here; it is kept for who asks.
int stream_set_attribute(void *stream, int attribute, const void *value) {
    if (stream_check(stream)) {
        return INVALID_HANDLE;
    }
    if (!value || attribute < 0 || attribute >= STREAM_ATTRIBUTES) {
        return INVALID_VALUE;
    }
    const void *key = attribute_key(stream, attribute);
    void *kept = handle_get(STREAM_ATTRIBUTE, key);
    if (!kept) {
        kept = malloc(sizeof(struct launch_attribute));
        handle_put(STREAM_ATTRIBUTE, key, kept);
    }
    memcpy(kept, value, sizeof((struct launch_attribute){0}.value));
    return SUCCESS;
}

int stream_copy_attributes(void *to, void *stream) {
    if (stream_check(to) || stream_check(stream)) {
        return INVALID_HANDLE;
    }
    for (int attribute = 0; attribute < STREAM_ATTRIBUTES; attribute++) {
        const void *kept = handle_get(STREAM_ATTRIBUTE, attribute_key(stream, attribute));
        if (kept) {
            stream_set_attribute(to, attribute, kept);
        }
    }
    return SUCCESS;
}

int stream_attribute(void *value, void *stream, int attribute) {
    if (stream_check(stream)) {
        return INVALID_HANDLE;
    }
    if (!value || attribute < 0 || attribute >= STREAM_ATTRIBUTES) {
        return INVALID_VALUE;
    }
    static const struct launch_attribute zero;
    const void *kept = handle_get(STREAM_ATTRIBUTE, attribute_key(stream, attribute));
    memcpy(value, kept ? kept : &zero.value, sizeof zero.value);
    if (kept) {
        return SUCCESS;
    }
    if (attribute == SYNCHRONIZATION_POLICY) {
        *(int *)value = AUTOMATIC;
    } else if (attribute == PRIORITY) {
        *(int *)value = priority_of(stream);
    }
    return SUCCESS;
}

int kernel_parameter(struct kernel *kernel, size_t number, size_t *offset, size_t *bytes) {
    int status = kernel_find(kernel);
    if (status || number >= kernel->facts.parameters || !offset) {
        return status ? status : INVALID_VALUE;
    }
    *offset = kernel->parameters[2 * number];
    if (bytes) {
        *bytes = kernel->parameters[2 * number + 1];
    }
    return SUCCESS;
}

int kernel_attribute(struct kernel *kernel, int attribute, int *value) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    const struct find_kernel_reply *facts = &kernel->facts;
    int version = 10 * gpu_attribute(MAJOR) + gpu_attribute(MINOR);
    const int values[FUNCTION_ATTRIBUTES] = {
        [MOST_THREADS] = (int)facts->most_threads,
        [STATIC_SHARED] = (int)facts->shared_bytes,
        [CONSTANT_BYTES] = (int)facts->constant_bytes,
        [LOCAL_BYTES] = (int)facts->local_bytes,
        [REGISTERS] = (int)facts->registers,
        [PTX_VERSION] = facts->compiled_for ? (int)facts->compiled_for : version,
        [BINARY_VERSION] = facts->architecture ? (int)facts->architecture : version,
        [MOST_DYNAMIC] = most_dynamic(kernel),
        [CARVEOUT] = kernel->carveout,
        [CLUSTER_MUST_BE_SET] = facts->cluster_x > 0,
        [CLUSTER_WIDTH] = (int)facts->cluster_x,
        [CLUSTER_HEIGHT] = (int)facts->cluster_y,
        [CLUSTER_DEPTH] = (int)facts->cluster_z,
        [NOT_PORTABLE] = kernel->not_portable,
    };
    if (attribute < 0 || attribute >= FUNCTION_ATTRIBUTES || !value) {
        return INVALID_VALUE;
    }
    *value = values[attribute];
    return SUCCESS;
}

int kernel_set_attribute(struct kernel *kernel, int attribute, int value) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    if (attribute == MOST_DYNAMIC) {
        int most = gpu_attribute(SHARED_OPT_IN) - (int)kernel->facts.shared_bytes;
        if (value < 0 || value > most) {
            return INVALID_VALUE;
        }
        kernel->most_dynamic = value;
    } else if (attribute == CARVEOUT) {
        kernel->carveout = value;
    } else if (attribute == NOT_PORTABLE) {
        kernel->not_portable = value != 0;
    }
    return attribute < 0 || attribute >= FUNCTION_ATTRIBUTES ? INVALID_VALUE : SUCCESS;
}

int kernel_occupancy(struct kernel *kernel, int threads, size_t shared, int *ctas) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    if (threads < 1 || !ctas) {
        return INVALID_VALUE;
    }
    struct occupancy_request request = {kernel->handle, (uint64_t)threads, shared};
    struct occupancy_reply fields = {0};
    status = GPU_CALL(OCCUPANCY, &request, &fields);
    *ctas = (int)fields.ctas;
    return status;
}

static int clusters_of(struct kernel *kernel, const struct shape *shape, unsigned ctas,
                       int *clusters) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    struct clusters_request request = {
        .kernel = kernel->handle,
        .threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2],
        .dynamic_shared = shape->dynamic_shared,
        .ctas = ctas,
        .portable = !kernel->not_portable,
    };
    struct clusters_reply fields = {0};
    status = GPU_CALL(CLUSTERS, &request, &fields);
    *clusters = (int)fields.clusters;
    return status;
}

int kernel_clusters(struct kernel *kernel, const struct shape *shape, int *clusters) {
    if (!clusters) {
        return INVALID_VALUE;
    }
    unsigned asked = shape->cluster[0] * shape->cluster[1] * shape->cluster[2];
    return clusters_of(kernel, shape, asked ? asked : 1, clusters);
}

int kernel_largest_cluster(struct kernel *kernel, const struct shape *shape, int *ctas) {
    if (!ctas) {
        return INVALID_VALUE;
    }
    int most = kernel->not_portable ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
    for (*ctas = most; *ctas > 1; *ctas /= 2) {
        int clusters;
        int status = clusters_of(kernel, shape, (unsigned)*ctas, &clusters);
        if (status || clusters) {
            return status;
        }
    }
    return SUCCESS;
}

int kernel_shared_room(struct kernel *kernel, int ctas, size_t *bytes) {
    int status = kernel_find(kernel);
    if (status || ctas < 1 || !bytes) {
        return status ? status : INVALID_VALUE;
    }
    size_t share = (size_t)gpu_attribute(SHARED_PER_SM) / (size_t)ctas / SHARED_UNIT * SHARED_UNIT;
    size_t taken = kernel->facts.shared_bytes + (size_t)gpu_attribute(SHARED_RESERVED);
    size_t most = (size_t)gpu_attribute(SHARED_OPT_IN) - kernel->facts.shared_bytes;
    *bytes = share > taken ? share - taken : 0;
    *bytes = *bytes < most ? *bytes : most;
    return SUCCESS;
}

int kernel_best_block(struct kernel *kernel, size_t (*shared_of)(int), size_t shared, int limit,
                      int *grid, int *block) {
    int status = grid && block ? kernel_find(kernel) : INVALID_VALUE;
    if (status) {
        return status;
    }
    int most = (int)kernel->facts.most_threads, best = 0;
    most = limit > 0 && limit < most ? limit : most;
    for (int threads = most / WARP * WARP; threads > 0; threads -= WARP) {
        int ctas;
        status = kernel_occupancy(kernel, threads, shared_of ? shared_of(threads) : shared, &ctas);
        if (status) {
            return status;
        }
        if (ctas * threads > best) {
            best = ctas * threads;
            *block = threads;
            *grid = ctas * gpu_attribute(MULTIPROCESSORS);
        }
    }
    return best ? SUCCESS : INVALID_VALUE;
}
