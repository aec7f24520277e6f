// Sleeps of a time that the code or a register names; `times` has how long each took, by the timer.
__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
extern "C" __global__ void sleeps(unsigned *times, const unsigned *names) {
  unsigned name = names[threadIdx.x];
  unsigned long long before = now();
  __nanosleep(name);
  unsigned long long between = now();
  __nanosleep(3000);
  unsigned long long after = now();
  times[threadIdx.x] = between - before;
  times[blockDim.x + threadIdx.x] = after - between;
}
// The first warp waits for the last one, which sleeps; others must not wait for either.
extern "C" __global__ void backs_off(unsigned *flag, unsigned *rounds) {
  unsigned n = 0, pause = 100;
  if (threadIdx.x / 32 == blockDim.x / 32 - 1) {
    __nanosleep(blockDim.x * 50);
    if (threadIdx.x % 32 == 0) atomicExch(flag, 1);
  } else
    while (atomicAdd(flag, 0) == 0) {
      __nanosleep(pause);
      pause *= 2;
      n++;
    }
  rounds[threadIdx.x] = n;
}
