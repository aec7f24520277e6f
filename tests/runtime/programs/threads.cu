// Threads that do the same at once, or go on while another one waits for the GPU; and a program that
// only writes, reads, or is interrupted, while a stream waits for a word.

#include <cuda.h>
#include <atomic>
#include <csignal>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include "check.h"

__global__ void spin(volatile int *p) {
    while (!*p) {
    }
    p[1] = 7;
}
__global__ void store(volatile unsigned *p, unsigned v) {
    *p = v;
}

static unsigned *words; // in pinned memory
static cudaStream_t a, b;

static CUdeviceptr at(int k) {
    return (CUdeviceptr)(words + k);
}

// Memory of a pool has an address that another thread gets as soon as it is freed.
static void pools() {
    cudaMemPool_t pool;
    uint64_t used = 1;
    CK(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::vector<std::thread> all;
    for (int t = 0; t < 6; t++) {
        all.emplace_back([t] {
            cudaStream_t s;
            CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
            for (int k = 0; k < 400; k++) {
                void *p;
                CK(cudaMallocAsync(&p, 256 * (t + 1), s));
                CK(cudaFreeAsync(p, s));
            }
            CK(cudaStreamDestroy(s));
        });
    }
    for (auto &thread : all) {
        thread.join();
    }
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(used == 0);
}

// A kernel that two threads look up is one: what one of them sets of it holds for the other.
static void functions() {
    const char *text = ".version 7.0\n.target sm_80\n.address_size 64\n"
                       ".visible .entry nothing() { ret; }\n";
    CUcontext context;
    CK(cuCtxGetCurrent(&context));
    int twice = 0;
    for (int k = 0; k < 100; k++) {
        CUmodule module;
        CK(cuModuleLoadData(&module, text));
        CUfunction found[2];
        std::atomic<int> arrived(0);
        auto get = [&](int id) {
            cuCtxSetCurrent(context);
            arrived++;
            while (arrived < 2) {
            }
            CK(cuModuleGetFunction(&found[id], module, "nothing"));
        };
        std::thread one(get, 0), two(get, 1);
        one.join();
        two.join();
        twice += found[0] != found[1];
        CK(cuModuleUnload(module));
    }
    OK(twice == 0);
}

// What says nothing to the GPU does not wait for it.
static void devices() {
    int *p;
    CK(cudaMallocHost(&p, 64));
    p[0] = p[1] = 0;
    spin<<<1, 1, 0, a>>>(p);
    std::thread waiter([] { CK(cudaStreamSynchronize(a)); });
    usleep(200000);
    int device, warp;
    cudaDeviceProp properties;
    CK(cudaSetDevice(0));
    CK(cudaGetDevice(&device));
    CK(cudaGetDeviceProperties(&properties, 0));
    CK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    *(volatile int *)p = 1;
    waiter.join();
    OK(p[1] == 7 && device == 0 && warp == 32);
    CK(cudaFreeHost(p));
}

static bool comes(unsigned *word, unsigned value) {
    for (int k = 0; k < 5000 && *(volatile unsigned *)word != value; k++) {
        usleep(1000);
    }
    return *(volatile unsigned *)word == value;
}

// The call that puts something behind a word looks whether it is there: no other call may follow.
static void last_calls() {
    words[0] = words[1] = 0;
    CK(cuStreamWaitValue32(a, at(0), 1, CU_STREAM_WAIT_VALUE_EQ));
    *(volatile unsigned *)words = 1;
    store<<<1, 1, 0, a>>>(words + 1, 5);
    OK(comes(words + 1, 5));
    words[0] = words[1] = 0;
    cudaEvent_t e;
    CK(cudaEventCreate(&e));
    CK(cuStreamWaitValue32(a, at(0), 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaEventRecord(e, a));
    *(volatile unsigned *)words = 1;
    CK(cudaStreamWaitEvent(b, e, 0));
    store<<<1, 1, 0, b>>>(words + 1, 6);
    OK(comes(words + 1, 6));
    CK(cudaDeviceSynchronize());
}

// A program of one thread is not alone if it has a handler of signals.
static void signals() {
    words[0] = 0;
    struct itimerval soon = {{0, 0}, {0, 200000}};
    signal(SIGALRM, [](int) { *(volatile unsigned *)words = 1; });
    setitimer(ITIMER_REAL, &soon, nullptr);
    CK(cuStreamWaitValue32(a, at(0), 1, CU_STREAM_WAIT_VALUE_EQ));
    CK(cudaStreamSynchronize(a));
    OK(words[0] == 1);
    signal(SIGALRM, SIG_DFL);
}

// Registered pages become a program's own again, and are never seen with anything else in them.
static void registered() {
    const size_t bytes = 1 << 20;
    char *pages = (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0);
    memset(pages, 3, bytes);
    std::atomic<bool> done(false);
    std::atomic<long> odd(0);
    std::thread reader([&] {
        while (!done) {
            for (size_t k = 0; k < bytes; k += 4096) {
                odd += ((volatile char *)pages)[k] != 3;
            }
        }
    });
    for (int k = 0; k < 50; k++) {
        void *there;
        CK(cudaHostRegister(pages, bytes, cudaHostRegisterMapped));
        CK(cudaHostGetDevicePointer(&there, pages, 0));
        CK(cudaHostUnregister(pages));
    }
    done = true;
    reader.join();
    OK(odd == 0);
}

// A child of fork finds no simulator, and does not wait for threads of its parent.
static void children() {
    std::atomic<bool> stop(false);
    std::vector<std::thread> all;
    for (int t = 0; t < 3; t++) {
        all.emplace_back([&] {
            cudaStream_t s;
            CK(cudaStreamCreate(&s));
            while (!stop) {
                unsigned flags;
                for (int k = 0; k < 2000; k++) {
                    cudaStreamGetFlags(s, &flags);
                }
                cudaEvent_t e;
                CK(cudaEventCreate(&e));
                CK(cudaEventRecord(e, s));
                CK(cudaEventDestroy(e));
            }
        });
    }
    usleep(50000);
    int failed = 0;
    for (int k = 0; k < 60; k++) {
        pid_t child = fork();
        if (!child) {
            alarm(10);
            void *memory;
            cudaStream_t s;
            bool refused = cudaMalloc(&memory, 64) && cudaDeviceSynchronize() && cudaStreamCreate(&s);
            _exit(!refused);
        }
        int status;
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    stop = true;
    for (auto &thread : all) {
        thread.join();
    }
    OK(failed == 0);
}

int main() {
    CK(cudaMallocHost(&words, 64));
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    signals();
    alarm(300); // what hangs ends
    pools();
    functions();
    devices();
    last_calls();
    registered();
    children();
    return finish();
}
