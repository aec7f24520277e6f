// All-reduce over a ring of GPUs, as collective libraries do it: copies between neighbours, and
// kernels that add what came.
//
//   nvcc -arch=sm_80 -o ring examples/allreduce/ring.cu
//   lockstep run --system DGX_A100 ./ring 16

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

constexpr int slices = 4, threads = 256, most_blocks = 160;

static void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

__global__ void add(float4 *sums, const float4 *more, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float4 a = sums[i], b = more[i];
        sums[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}

struct Gpu {
    float *buffer, *arrival; // what came from the left
    cudaStream_t copies[2], sums[2];
    std::vector<cudaEvent_t> events;
};

struct Ring {
    std::vector<Gpu> gpus;
    size_t part; // floats of a slice

    int count() const { return (int)gpus.size(); }

    float *slice(float *array, int chunk, int number) const {
        chunk = (chunk % count() + count()) % count();
        return array + (size_t)(chunk * slices + number) * part;
    }

    cudaEvent_t record(int device, cudaStream_t stream) {
        cudaEvent_t event;
        CHECK(cudaSetDevice(device));
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CHECK(cudaEventRecord(event, stream));
        gpus[device].events.push_back(event);
        return event;
    }

    // One slice to the next GPU, when `ready` has happened; the event of its being there.
    cudaEvent_t send(int sender, int chunk, int number, cudaEvent_t ready, bool adds) {
        int receiver = (sender + 1) % count();
        Gpu &from = gpus[sender], &to = gpus[receiver];
        cudaStream_t stream = from.copies[number % 2];
        CHECK(cudaSetDevice(sender));
        if (ready) {
            CHECK(cudaStreamWaitEvent(stream, ready, 0));
        }
        float *target = slice(adds ? to.arrival : to.buffer, chunk, number);
        CHECK(cudaMemcpyPeerAsync(target, receiver, slice(from.buffer, chunk, number), sender,
                                  part * sizeof(float), stream));
        cudaEvent_t arrived = record(sender, stream);
        if (!adds) {
            return arrived;
        }
        CHECK(cudaSetDevice(receiver));
        cudaStream_t sums = to.sums[number % 2];
        CHECK(cudaStreamWaitEvent(sums, arrived, 0));
        int vectors = (int)(part / 4), blocks = (vectors + threads - 1) / threads;
        add<<<blocks < most_blocks ? blocks : most_blocks, threads, 0, sums>>>(
            (float4 *)slice(to.buffer, chunk, number), (float4 *)target, vectors);
        CHECK(cudaGetLastError());
        return record(receiver, sums);
    }

    void all_reduce() {
        std::vector<cudaEvent_t> ready(count() * slices, nullptr), next(ready);
        for (int step = 0; step < 2 * (count() - 1); step++) {
            for (int number = 0; number < slices; number++) {
                for (int sender = 0; sender < count(); sender++) {
                    next[(sender + 1) % count() * slices + number] =
                        send(sender, sender - step, number, ready[sender * slices + number],
                             step < count() - 1);
                }
            }
            ready = next;
        }
    }
};

int main(int arguments, char **argument) {
    int megabytes = arguments > 1 ? std::atoi(argument[1]) : 16, count = 0;
    CHECK(cudaGetDeviceCount(&count));
    size_t floats = (size_t)megabytes << 18;
    if (floats % ((size_t)count * slices * 4)) {
        std::fprintf(stderr, "%zu floats are not %d x %d slices of vectors\n", floats, count, slices);
        return 1;
    }
    Ring ring;
    ring.gpus.resize(count);
    ring.part = floats / ((size_t)count * slices);
    std::vector<float> values(floats), sums(floats, 0.0f);
    for (int k = 0; k < count; k++) {
        Gpu &gpu = ring.gpus[k];
        int next = (k + 1) % count, can = 0;
        CHECK(cudaSetDevice(k));
        if (count > 1) {
            CHECK(cudaDeviceCanAccessPeer(&can, k, next));
        }
        if (can) {
            CHECK(cudaDeviceEnablePeerAccess(next, 0));
        }
        CHECK(cudaMalloc(&gpu.buffer, floats * sizeof(float)));
        CHECK(cudaMalloc(&gpu.arrival, floats * sizeof(float)));
        for (cudaStream_t *stream : {&gpu.copies[0], &gpu.copies[1], &gpu.sums[0], &gpu.sums[1]}) {
            CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
        }
        for (size_t i = 0; i < floats; i++) {
            values[i] = (float)((i * 7 + (size_t)k * 13) % 101);
            sums[i] += values[i];
        }
        CHECK(cudaMemcpy(gpu.buffer, values.data(), floats * sizeof(float),
                         cudaMemcpyHostToDevice));
    }
    ring.all_reduce();
    int wrong = 0;
    for (int k = 0; k < count; k++) {
        CHECK(cudaSetDevice(k));
        CHECK(cudaDeviceSynchronize());
    }
    for (int k = 0; k < count; k++) {
        CHECK(cudaMemcpy(values.data(), ring.gpus[k].buffer, floats * sizeof(float),
                         cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < floats; i++) {
            wrong += values[i] != sums[i];
        }
    }
    std::printf("%d GPUs, %d MiB: %d sums are wrong\n", count, megabytes, wrong);
    return wrong != 0;
}
