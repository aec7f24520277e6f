#include "../program.cuh"
#include "spin_lock.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 1000);
    const int accounts = 13;
    Random random;
    std::vector<int> amounts = random.integers(n, -100, 100), zeros(accounts, 0), sums = zeros;
    DeviceArray<int> device_amounts(amounts), locks(zeros), balances(zeros);
    spin_lock<<<blocks(n, 64), 64>>>(n, accounts, device_amounts, locks, balances);
    for (int i = 0; i < n; i++) {
        sums[i % accounts] += amounts[i];
    }
    expect("balances", balances.download(), sums);
    expect("locks", locks.download(), zeros);
    return finish();
}
