// Functions that streams call: in their order, on a thread of their own, whatever they wait for.

#include <cuda.h>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>
#include "check.h"

__global__ void add(volatile int *p, int k) {
    *p = *p * 3 + k;
}

static int *words; // in pinned memory
static cudaStream_t a, b;

struct Gate {
    std::promise<void> opened;
    std::shared_future<void> open = opened.get_future().share();
    std::atomic<int> passed{0};
};

static void pass(void *given) {
    Gate *gate = (Gate *)given;
    gate->open.wait();
    gate->passed++;
}

// What comes behind a function waits for it, and is done when it has returned.
static void holds_its_stream_alone() {
    Gate gate;
    words[0] = words[1] = 1;
    CK(cudaLaunchHostFunc(a, pass, &gate));
    add<<<1, 1, 0, a>>>(words, 1);
    add<<<1, 1, 0, b>>>(words + 1, 2);
    CK(cudaStreamSynchronize(b));
    OK(words[0] == 1 && words[1] == 5 && !gate.passed);
    IS(cudaStreamQuery(a), cudaErrorNotReady);
    gate.opened.set_value();
    CK(cudaStreamSynchronize(a));
    OK(words[0] == 4 && gate.passed == 1);
}

// A lock that the caller holds, as one does who waits for a condition.
static void needs_a_lock_of_the_caller(bool behind) {
    struct Shared {
        std::mutex lock;
        std::condition_variable changed;
        int value = 0;
    } shared;
    CUdeviceptr word = (CUdeviceptr)(words + 2);
    words[2] = 0;
    std::unique_lock<std::mutex> held(shared.lock);
    if (behind) {
        OK(!cuStreamWaitValue32(a, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    }
    CK(cudaStreamAddCallback(
        a,
        [](cudaStream_t, cudaError_t status, void *given) {
            Shared *mine = (Shared *)given;
            std::lock_guard<std::mutex> guard(mine->lock);
            mine->value = status == cudaSuccess ? 7 : -1;
            mine->changed.notify_all();
        },
        &shared, 0));
    if (behind) {
        OK(!cuStreamWriteValue32(b, word, 1, 0));
    }
    shared.changed.wait(held, [&] { return shared.value != 0; });
    OK(shared.value == 7);
    held.unlock();
    CK(cudaStreamSynchronize(a));
}

// No call follows that would look whether the function has returned.
static void goes_on_by_itself() {
    Gate gate;
    std::atomic<int> last{0};
    words[3] = 0;
    CK(cudaLaunchHostFunc(a, pass, &gate));
    add<<<1, 1, 0, a>>>(words + 3, 5);
    CK(cudaLaunchHostFunc(a, [](void *to) { ++*(std::atomic<int> *)to; }, &last));
    gate.opened.set_value();
    while (!last) {
        std::this_thread::yield();
    }
    OK(words[3] == 5);
    CK(cudaStreamSynchronize(a));
}

// An event behind a function, which another stream waits for.
static void events_behind() {
    Gate gate;
    cudaEvent_t event;
    CK(cudaEventCreate(&event));
    words[4] = 1;
    CK(cudaLaunchHostFunc(a, pass, &gate));
    add<<<1, 1, 0, a>>>(words + 4, 1);
    CK(cudaEventRecord(event, a));
    CK(cudaStreamWaitEvent(b, event, 0));
    add<<<1, 1, 0, b>>>(words + 4, 2);
    IS(cudaEventQuery(event), cudaErrorNotReady);
    OK(words[4] == 1);
    gate.opened.set_value();
    CK(cudaStreamSynchronize(b));
    OK(words[4] == 14);
    CK(cudaEventDestroy(event));
}

static std::vector<int> order;

static void come_in_order() {
    static int numbers[500];
    for (int k = 0; k < 500; k++) {
        numbers[k] = k;
        CK(cudaLaunchHostFunc(k % 2 ? a : 0, [](void *k) { order.push_back(*(int *)k); },
                              numbers + k));
    }
    CK(cudaDeviceSynchronize());
    OK(order.size() == 500);
    for (int k = 0; k < 500; k++) {
        OK(order[k] == k);
    }
}

// Signals go to the threads of the program, and one that takes long is waited for.
static void takes_long() {
    static std::thread::id handled;
    signal(SIGUSR1, [](int) { handled = std::this_thread::get_id(); });
    static std::atomic<bool> begun{false}, ended{false};
    CK(cudaLaunchHostFunc(
        a,
        [](void *) {
            begun = true;
            sleep(11);
            ended = true;
        },
        nullptr));
    while (!begun) {
        std::this_thread::yield();
    }
    kill(getpid(), SIGUSR1);
    CK(cudaStreamSynchronize(a));
    OK(ended && handled == std::this_thread::get_id());
}

int main() {
    alarm(300); // a function that nobody lets go on ends the program
    CK(cudaMallocHost(&words, 64));
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    holds_its_stream_alone();
    needs_a_lock_of_the_caller(false);
    needs_a_lock_of_the_caller(true);
    goes_on_by_itself();
    events_behind();
    come_in_order();
    takes_long();
    return finish();
}
