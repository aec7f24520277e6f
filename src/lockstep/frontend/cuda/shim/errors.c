// Errors of the runtime API: their names, their texts, the last one of a thread.

#include "runtime.h"

static _Thread_local int last_error;

struct error {
    int number;
    const char *name, *text;
};

static const struct error errors[] = {
#define ERROR(number, runtime, driver, text) {number, #runtime, text},
#include "errors.h"
#undef ERROR
};

static const struct error *find(int number) {
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
        if (errors[k].number == number) {
            return &errors[k];
        }
    }
    return NULL;
}

int report(int status) {
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
    const struct error *error = find(status);
    return error ? error->name : "unrecognized error code";
}

API const char *cudaGetErrorString(int status) {
    const struct error *error = find(status);
    return error ? error->text : "unrecognized error code";
}
