#!/bin/bash
# Measures the GPU of this machine: compiles the kernels for it, runs the plan, writes raw.txt.
# Needs nvcc. Afterwards, anywhere: lockstep microbench --raw raw.txt -o measured.csv
set -e
cd "$(dirname "$0")"
cap=${CAPABILITY:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)}
arch=sm_$cap
test "$cap" = 90 && arch=sm_90a
mkdir -p cubins
for source in kernels/*.cu; do
  name=$(basename "$source" .cu)
  # No case of the plan asks for a source with instructions that this architecture does not have.
  (cd kernels && nvcc -O3 -std=c++17 -cubin -arch=$arch -o "../cubins/$name.cubin" "$name.cu") \
    > "cubins/$name.log" 2>&1 || echo "$name: not for $arch, see cubins/$name.log"
done
stubs=$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64/stubs
nvcc -O2 -std=c++17 -o driver driver.cpp -L"$stubs" -lcuda
./driver plan.txt cubins raw.txt
