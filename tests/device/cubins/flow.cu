// Control flow that only registers and relocations tell: virtual calls, tables of functions,
// dense switches, functions that call themselves.
struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int sides() const { return 0; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
  __device__ int sides() const override { return 4; }
};
struct Named {
  __device__ virtual int name() const { return 7; }
};
struct Round : Shape, Named {
  int radius;
  __device__ Round(int r) : radius(r) {}
  __device__ int area() const override { return 3 * radius * radius; }
  __device__ int name() const override { return radius + 100; }
};
struct Pair : Shape {
  const Shape *first, *second;
  __device__ Pair(const Shape *a, const Shape *b) : first(a), second(b) {}
  __device__ int area() const override { return first->area() + second->area(); }
  __device__ int sides() const override { return first->sides() + second->sides(); }
};

__device__ Shape *made[96];

extern "C" __global__ void make() {
  int i = threadIdx.x;
  made[i] = i % 3 == 0 ? (Shape *)new Square(i) : i % 3 == 1 ? (Shape *)new Round(i) : nullptr;
  __syncthreads();
  if (i % 3 == 2) made[i] = new Pair(made[i - 1], made[i - 2]);
}

extern "C" __global__ void measure(int *areas, int *sides, int *names) {
  int i = threadIdx.x;
  Square small(i);
  Round disc(i);
  const Shape *mine = i & 1 ? (const Shape *)&small : (const Shape *)&disc;
  areas[i] = 1000000 * mine->area() + made[i]->area();
  sides[i] = 10 * mine->sides() + made[i]->sides();
  names[i] = ((const Named *)&disc)->name();
}

extern "C" __global__ void destroy() {
  delete made[threadIdx.x];
  made[threadIdx.x] = nullptr;
}

typedef int (*Function)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int next(int x) { return x + 1; }
__device__ __noinline__ int steps(int x) {
  int n = 0;
  for (; x > 1; ++n) x = x & 1 ? 3 * x + 1 : x / 2;
  return n;
}
__device__ Function table[3] = {twice, next, steps};
__constant__ Function fixed[3] = {steps, twice, next};

extern "C" __global__ void pick(int *out) {
  int i = threadIdx.x;
  const Function *from = i & 1 ? fixed : table;
  out[i] = 1000 * from[i % 3](i) + fixed[i % 3](i + 1);
}

__device__ __noinline__ int choose(int which, int x) {
  switch (which) {
    case 0: return x * 3;
    case 1: return x ^ 5;
    case 2: return x - 100;
    case 3: return ~x;
    case 4: return x << 3;
    case 5: return x * x;
    case 6: return x / 7;
    case 7: return x % 13;
    default: return -1;
  }
}

extern "C" __global__ void decide(int *out) { out[threadIdx.x] = choose(threadIdx.x % 9, threadIdx.x); }

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

extern "C" __global__ void recur(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 8); }
