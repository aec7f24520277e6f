// Barriers in shared memory that count arrivals and bytes.
#pragma once
#include "common.cuh"

INLINE void mbarrier_init(u32 at, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}

INLINE void mbarrier_wait(u32 at, u32 phase) {
  asm volatile(
      "{ .reg .pred p; W_%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W_%=; }" ::"r"(at),
      "r"(phase)
      : "memory");
}
