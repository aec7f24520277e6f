// Branches, calls, indirection, recursion, loops with exits, printing and assertions.
extern "C" __device__ int printf(const char *, ...);
typedef int (*Function)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b * 3; }
__device__ __noinline__ int minus(int a, int b) { return a - b * 5; }
__device__ __noinline__ int times(int a, int b) { return a * b + 1; }
__device__ Function functions[3] = {plus, minus, times};
extern "C" __global__ void indirect(int *a, int n) { a[threadIdx.x] = functions[a[threadIdx.x] % 3](n, a[threadIdx.x]); }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int *a) { a[threadIdx.x] = fibonacci(a[threadIdx.x]); }
extern "C" __global__ void calls(int *a, int n) {
    int v = a[threadIdx.x];
    for (int i = 0; i < n; i++) v = plus(v, minus(i, times(v, n)));
    a[threadIdx.x] = v;
}
extern "C" __global__ void switches(int *a, float *f, int n) {
    int v = a[threadIdx.x];
    switch (v) {
    case 0: v = n * 3; break;
    case 1: f[threadIdx.x] = sinf(f[n]); break;
    case 2: v ^= n; break;
    case 3: v = plus(v, n); break;
    case 4: f[threadIdx.x + 1] /= 3.f; break;
    case 5: v = v / n; break;
    case 6: f[n] = 1; break;
    case 7: v = v * v * v; break;
    case 8: a[v] = 7; break;
    case 9: v = __popc(v); break;
    case 10: return;
    default: v = -v;
    }
    a[threadIdx.x] = v;
}
extern "C" __global__ void loops(int *a, int n) {
    int v = a[threadIdx.x], w = 0;
    while (v > 0) {
        if (v == n) break;
        if (v & 1) { w++; v = v * 3 + 1; if (w > 100) return; continue; }
        v >>= 1;
        for (int k = 0; k < v; k += n) { w += k; if (w == 55) goto out; }
    }
out:
    a[threadIdx.x] = w;
    do { w = w * 5 + a[w & 31]; if (__any_sync(__activemask(), w == 3)) w++; } while (w < n);
    a[threadIdx.x + 32] = w;
}
extern "C" __global__ void divergent(int *a, float *f, int n) {
    int i = threadIdx.x;
    if (i & 1) {
        if (i & 2) { f[i] = sqrtf(f[i]); if (i & 4) f[i] = 1.f / f[i]; else a[i] = plus(a[i], n); }
        else if (a[i] == 3) a[i] = a[i] % n;
        __syncwarp();
    } else {
        for (int k = i; k < a[i]; k++) { if (a[k] < 0) break; f[k] += f[i]; }
    }
    __syncthreads();
    a[i] += i < n ? a[i ^ 1] : 0;
}
extern "C" __global__ void prints(int *a, double d) {
    printf("%d %f\n", a[threadIdx.x], d);
    if (a[0] == 3) __trap();
}
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.14f * r * r; } };
extern "C" __global__ void virtuals(float *f, int n) {
    Square s(f[0]);
    Circle c(f[1]);
    const Shape *p = threadIdx.x < n ? (const Shape *)&s : (const Shape *)&c;
    f[threadIdx.x] = p->area();
    int *h = new int[n];
    h[0] = n;
    f[threadIdx.x + 1] = h[n & 1];
    delete[] h;
}
extern "C" __global__ void stack_allocation(int *a, int n) {
    int p[77];
    for (int i = 0; i < n; i++) p[i] = a[i];
    for (int i = 0; i < n; i++) a[i] = p[n - 1 - i];
}
extern "C" __global__ void __launch_bounds__(1024, 2) pressure(float *f, int n) {
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; i++) v[i] = f[i * n];
#pragma unroll 1
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < 96; i++) v[i] = v[i] * v[(i * 7 + 3) % 96] + f[k];
#pragma unroll
    for (int i = 0; i < 96; i++) f[i * n + 1] = v[i];
}
