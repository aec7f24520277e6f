// How much of its stack a thread takes, only the launch tells.

extern "C" __global__ void taken(int *out, int n) {
    int *own = (int *)alloca((n + threadIdx.x % 4) * sizeof(int));
    for (int i = 0; i < n; i++)
        own[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum += own[i];
    out[threadIdx.x] = sum;
}
