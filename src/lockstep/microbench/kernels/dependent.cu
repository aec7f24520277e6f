// Programmatic launches: a second kernel that may start before the first has ended.
#include "common.cuh"

extern "C" __global__ void first(u64 *times, int launch, u64 spin) {
  if (launch) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  u64 began = clocks();
  while (clocks() - began < spin)
    ;
  __threadfence();
  if (threadIdx.x == 0 && blockIdx.x == 0) times[0] = nanoseconds();
}

extern "C" __global__ void second(u64 *times, int wait) {
  if (threadIdx.x == 0 && blockIdx.x == 0) times[1] = nanoseconds();
  if (wait) asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) times[2] = nanoseconds();
}
