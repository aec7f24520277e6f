// Kernels that launch kernels, copy, fill and allocate, and ask the device runtime.

#include "check.h"
#include "launched.cuh"

__device__ void (*const table[])(int *, int) = {append, append};

__global__ void with_parameters(int *out) {
    Block block = {2.5, -1, {10, 20, 30, 40, 50}};
    weigh<<<2, dim3(16, 2), 32 * sizeof(int)>>>(out, block, 3);
}

__global__ void in_streams(int *out, int *failed) {
    cudaStream_t one, two;
    cudaEvent_t event;
    *failed |= cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    *failed |= cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    *failed |= cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 9);
    for (int k = 1; k < 4; k++) {
        append<<<1, 1, 0, one>>>(out, k);
    }
    *failed |= cudaEventRecord(event, one);
    *failed |= cudaStreamWaitEvent(two, event, 0);
    *failed |= cudaMemcpyAsync(out + 1, out, 4, cudaMemcpyDeviceToDevice, two);
    append<<<1, 1, 0, two>>>(out + 1, 7);
    append<<<1, 1, 0, cudaStreamFireAndForget>>>(out + 2, 5);
    table[threadIdx.x]<<<1, 1>>>(out + 3, 4);
    *failed |= cudaEventDestroy(event) | cudaStreamDestroy(one) | cudaStreamDestroy(two);
    *failed |= cudaGetLastError();
}

__device__ cudaPitchedPtr pitched(void *pointer, size_t pitch, size_t height) {
    cudaPitchedPtr made = {pointer, pitch, pitch, height};
    return made;
}

// Eight rows of eight bytes: from the first four to the others, and fills.
__global__ void copies(char *bytes, int *failed) {
    cudaExtent extent = {2, 2, 2};
    cudaMemcpy3DParms box = {};
    box.srcPtr = pitched(bytes, 8, 2);
    box.dstPtr = pitched(bytes + 32, 8, 2);
    box.srcPos.x = 1;
    box.extent = extent;
    box.kind = cudaMemcpyDeviceToDevice;
    *failed |= cudaMemcpy3DAsync(&box, 0);
    *failed |= cudaMemcpy2DAsync(bytes + 36, 8, bytes + 4, 8, 3, 4, cudaMemcpyDefault, 0);
    *failed |= cudaMemsetAsync(bytes, 0x155, 3, 0);
    *failed |= cudaMemset2DAsync(bytes + 8, 8, 0x66, 2, 2, 0);
    *failed |= cudaMemset3DAsync(pitched(bytes + 24, 8, 1), 0x77, {1, 1, 1}, 0);
}

__global__ void append_all(int **cells, int count) {
    for (int i = 0; i < count; i++) {
        append<<<1, 1, 0, cudaStreamFireAndForget>>>(cells[i], i);
    }
}

__global__ void collect(int **cells, int count, int *out) {
    for (int i = 0; i < count; i++) {
        out[i] = *cells[i];
        if (cudaFree(cells[i])) {
            out[i] = -1;
        }
    }
}

__global__ void allocates(int **cells, int *out) {
    int i = threadIdx.x;
    if (cudaMalloc((void **)&cells[i], sizeof(int))) {
        return;
    }
    *cells[i] = 100;
    __syncthreads();
    if (i == 0) {
        append_all<<<1, 1>>>(cells, blockDim.x);
        collect<<<1, 1>>>(cells, blockDim.x, out);
    }
}

__global__ void sort(int *data, int left, int right) {
    int i = left, j = right, pivot = data[(left + right) / 2];
    while (i <= j) {
        while (data[i] < pivot) {
            i++;
        }
        while (data[j] > pivot) {
            j--;
        }
        if (i <= j) {
            int kept = data[i];
            data[i++] = data[j];
            data[j--] = kept;
        }
    }
    if (left < j) {
        sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, left, j);
    }
    if (i < right) {
        sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, i, right);
    }
}

__global__ void asks(int *out) {
    cudaFuncAttributes attributes;
    size_t pending;
    int value;
    *out++ = cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
    *out++ = value;
    *out++ = cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount);
    *out++ = (int)pending;
    *out++ = cudaFuncGetAttributes(&attributes, weigh);
    *out++ = attributes.maxThreadsPerBlock;
    *out++ = attributes.sharedSizeBytes;
    *out++ = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, append, 1024, 0);
    *out++ = value;
    *out++ = cudaGetDevice(&value) + value;
    append<<<1, 4096>>>(out, 1);
    *out++ = cudaPeekAtLastError();
    *out++ = cudaGetErrorName(cudaGetLastError())[9];
    *out++ = cudaGetErrorString(cudaErrorInvalidValue)[8];
    *out++ = cudaStreamCreateWithFlags((cudaStream_t *)&pending, cudaStreamDefault);
    *out++ = cudaGetLastError();
    *out++ = cudaGetLastError();
}

static int *managed(int count) {
    int *made;
    CK(cudaMallocManaged(&made, count * sizeof(int)));
    memset(made, 0, count * sizeof(int));
    return made;
}

int main() {
    int *out = managed(64), *failed = managed(1);
    with_parameters<<<1, 1>>>(out);
    CK(cudaDeviceSynchronize());
    IS(out[0], -(int)(2.5 * 10) + 3);
    IS(out[16], out[0]);

    memset(out, 0, 64 * sizeof(int));
    in_streams<<<1, 1>>>(out, failed);
    CK(cudaDeviceSynchronize());
    CK(*failed);
    const int digits[] = {1239, 1237, 5, 4};
    for (int i = 0; i < 4; i++) {
        IS(out[i], digits[i]);
    }

    char *bytes = (char *)managed(16);
    for (int i = 0; i < 64; i++) {
        bytes[i] = (char)i;
    }
    copies<<<1, 1>>>(bytes, failed);
    CK(cudaDeviceSynchronize());
    CK(*failed);
    const char rows[8][8] = {{0x55, 0x55, 0x55, 3, 4, 5, 6, 7}, {0x66, 0x66, 10, 11, 12},
                             {0x66, 0x66, 18}, {0x77, 25}, {1, 2, 34, 35, 4, 5, 6, 39},
                             {9, 10, 42}, {17, 18, 50}, {25, 26, 58}};
    OK(!memcmp(bytes, rows[0], 8) && !memcmp(bytes + 32, rows[4], 8));
    for (int y = 1; y < 8; y++) {
        OK(!memcmp(bytes + 8 * y, rows[y], 2));
    }

    int **cells;
    CK(cudaMallocManaged(&cells, 8 * sizeof *cells));
    allocates<<<1, 8>>>(cells, out);
    CK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++) {
        IS(out[i], 1000 + i);
    }

    int *data = managed(40);
    for (int i = 0; i < 40; i++) {
        data[i] = i * 17 % 40;
    }
    sort<<<1, 1>>>(data, 0, 39);
    CK(cudaDeviceSynchronize());
    for (int i = 0; i < 40; i++) {
        IS(data[i], i);
    }

    CK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 77));
    asks<<<1, 1>>>(out);
    CK(cudaDeviceSynchronize());
    int sms;
    CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int want[] = {0, sms, 0, 77, 0, 1024, 0, 0, 2, 0, 9, 'I', 'a', 1, 1, 0};
    for (int i = 0; i < 16; i++) {
        IS(out[i], want[i]);
    }
    return finish();
}
