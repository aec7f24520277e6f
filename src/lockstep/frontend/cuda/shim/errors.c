// Errors of the runtime API: their names, their texts, the last one of a thread.

#include "runtime.h"

static _Thread_local int last_error;

int report(int status) {
    gpu_keep_context(true);
    if (status != SUCCESS && status != NOT_READY) {
        last_error = status;
    }
    return status;
}

API int cudaGetLastError(void) {
    int status = last_error;
    last_error = SUCCESS;
    return status;
}

API int cudaPeekAtLastError(void) {
    return last_error;
}

API const char *cudaGetErrorName(int status) {
    const struct error *error = error_find(status);
    return error ? error->runtime_name : "unrecognized error code";
}

API const char *cudaGetErrorString(int status) {
    const struct error *error = error_find(status);
    return error ? error->text : "unrecognized error code";
}
