// Processes that share memory and an event: each starts the program again, with handles.

#include "check.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *p, int v) {
    p[threadIdx.x] += v;
}

template <class T> static std::string text(const T &handle) {
    std::string out;
    char two[3];
    for (size_t k = 0; k < sizeof handle; k++) {
        snprintf(two, sizeof two, "%02x", ((const unsigned char *)&handle)[k]);
        out += two;
    }
    return out;
}

template <class T> static T handle(const char *text) {
    T out;
    unsigned byte;
    for (size_t k = 0; k < sizeof out; k++) {
        sscanf(text + 2 * k, "%2x", &byte);
        ((unsigned char *)&out)[k] = (unsigned char)byte;
    }
    return out;
}

static int child(char **arguments) {
    int *p;
    cudaEvent_t event;
    CK(cudaIpcOpenMemHandle((void **)&p, handle<cudaIpcMemHandle_t>(arguments[1]),
                            cudaIpcMemLazyEnablePeerAccess));
    CK(cudaIpcOpenEventHandle(&event, handle<cudaIpcEventHandle_t>(arguments[2])));
    CK(cudaStreamWaitEvent(0, event, 0));
    add<<<1, 32>>>(p, 1000);
    CK(cudaDeviceSynchronize());
    CK(cudaEventDestroy(event));
    CK(cudaIpcCloseMemHandle(p));
    IS(cudaIpcOpenMemHandle((void **)&p, cudaIpcMemHandle_t{}, 0), cudaErrorInvalidResourceHandle);
    return failures() != 0;
}

int main(int argc, char **arguments) {
    if (argc > 1) {
        return child(arguments);
    }
    int *p, host[32], status;
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t shared;
    cudaEvent_t event;
    CK(cudaMalloc(&p, 4096));
    CK(cudaMemset(p, 0, 4096));
    CK(cudaEventCreate(&event, cudaEventInterprocess | cudaEventDisableTiming));
    IS(cudaIpcGetMemHandle(&memory, host), cudaErrorInvalidValue);
    CK(cudaIpcGetMemHandle(&memory, p + 64));
    CK(cudaIpcGetEventHandle(&shared, event));
    cudaEvent_t own;
    CK(cudaEventCreate(&own, cudaEventDisableTiming));
    IS(cudaIpcGetEventHandle(&shared, own), cudaErrorInvalidResourceHandle);
    CK(cudaIpcGetEventHandle(&shared, event));
    std::string a = text(memory), b = text(shared);
    for (int k = 0; k < 2; k++) {
        add<<<1, 32>>>(p + 64, k + 1);
        CK(cudaEventRecord(event, 0));
        if (!fork()) {
            execl(arguments[0], arguments[0], a.c_str(), b.c_str(), NULL);
            _exit(9);
        }
        wait(&status);
        OK(WIFEXITED(status) && !WEXITSTATUS(status));
    }
    CK(cudaMemcpy(host, p + 64, sizeof host, cudaMemcpyDeviceToHost));
    OK(host[0] == 2003 && host[31] == 2003);
    return finish();
}
