// Streams, events, callbacks, and threads of the host that use them at once.

#include "check.h"
#include <thread>
#include <atomic>
__global__ void init(int *p, int v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += v;
}
static int seen = 0;
static std::atomic<int> hosts{0};
void CUDART_CB cb(cudaStream_t s, cudaError_t e, void *d) {
    seen += *(int *)d + e;
}
void CUDART_CB hf(void *d) {
    hosts += *(int *)d;
}
int main() {
    const int n = 4096, ns = 4;
    int *h, *d;
    CK(cudaMallocHost(&h, n * 4));
    CK(cudaMalloc(&d, n * 4));
    cudaStream_t s[ns];
    for (auto &x : s)
        CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    unsigned fl;
    CK(cudaStreamGetFlags(s[0], &fl));
    OK(fl == cudaStreamNonBlocking);
    CK(cudaMemset(d, 0, n * 4));
    cudaEvent_t a, b, t;
    CK(cudaEventCreate(&a));
    CK(cudaEventCreate(&b));
    CK(cudaEventCreateWithFlags(&t, cudaEventDisableTiming));
    CK(cudaEventRecord(a));
    int part = n / ns;
    for (int k = 0; k < ns; k++) {
        init<<<part / 128, 128, 0, s[k]>>>(d + k * part, k, part);
        CK(cudaMemcpyAsync(h + k * part, d + k * part, part * 4, cudaMemcpyDeviceToHost, s[k]));
    }
    int x = 5;
    CK(cudaStreamAddCallback(s[1], cb, &x, 0));
    CK(cudaLaunchHostFunc(s[2], hf, &x));
    for (auto &y : s) {
        CK(cudaEventRecord(t, y));
        CK(cudaStreamWaitEvent(s[0], t, 0));
    }
    CK(cudaEventRecord(b));
    CK(cudaEventSynchronize(b));
    while (cudaEventQuery(b) == cudaErrorNotReady)
        ;
    CK(cudaStreamQuery(s[0]));
    float ms;
    CK(cudaEventElapsedTime(&ms, a, b));
    OK(ms >= 0);
    IS(cudaEventElapsedTime(&ms, a, t), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    CK(cudaDeviceSynchronize());
    OK(seen == 5);
    OK(hosts == 5);
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += h[i] != i / part;
    OK(bad == 0);
    cudaEvent_t never;
    CK(cudaEventCreate(&never));
    IS(cudaEventElapsedTime(&ms, never, b), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    cudaStream_t pr;
    int lo, hi;
    CK(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    CK(cudaStreamCreateWithPriority(&pr, 0, hi));
    int p;
    CK(cudaStreamGetPriority(pr, &p));
    OK(p == hi);
    // concurrent threads on own streams, per-thread
    std::vector<std::thread> ts;
    std::atomic<int> errs{0};
    for (int k = 0; k < 8; k++)
        ts.emplace_back([&, k] {
            int *q;
            std::vector<int> host(256);
            cudaStream_t st;
            errs += cudaStreamCreate(&st) != 0;
            errs += cudaMalloc(&q, 1024) != 0;
            errs += cudaMemsetAsync(q, 0, 1024, st) != 0;
            for (int r = 0; r < 20; r++)
                init<<<2, 128, 0, st>>>(q, k, 256);
            errs += cudaMemcpyAsync(host.data(), q, 1024, cudaMemcpyDeviceToHost, st) != 0;
            errs += cudaStreamSynchronize(st) != 0;
            for (int v : host)
                errs += v != 20 * k;
            errs += cudaFree(q) != 0;
            errs += cudaStreamDestroy(st) != 0;
        });
    for (auto &th : ts)
        th.join();
    OK(errs == 0);
    init<<<1, 32, 0, cudaStreamPerThread>>>(d, 1, 32);
    CK(cudaStreamSynchronize(cudaStreamPerThread));
    init<<<1, 32, 0, cudaStreamLegacy>>>(d, 1, 32);
    CK(cudaStreamSynchronize(cudaStreamLegacy));
    for (auto &y : s)
        CK(cudaStreamDestroy(y));
    CK(cudaEventDestroy(a));
    CK(cudaFreeHost(h));
    CK(cudaFree(d));
    IS(cudaStreamSynchronize(s[0]), cudaErrorInvalidResourceHandle);
    int least, greatest, priority;
    unsigned kept;
    cudaStream_t urgent;
    CK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(least == 0 && greatest < 0);
    CK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest - 7));
    CK(cudaStreamGetPriority(urgent, &priority));
    CK(cudaStreamGetFlags(urgent, &kept));
    OK(priority == greatest && kept == cudaStreamNonBlocking);
#if CUDART_VERSION >= 12000
    cudaStreamAttrValue value = {};
    CK(cudaStreamSetAttribute(urgent, cudaStreamAttributeAccessPolicyWindow, &value));
    CK(cudaStreamGetAttribute(urgent, cudaStreamAttributePriority, &value));
    OK(value.priority == greatest);
#endif
    CK(cudaStreamDestroy(urgent));
    return finish();
}
