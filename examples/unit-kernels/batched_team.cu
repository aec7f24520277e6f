// A block for each matrix of a batch.

#include "batched.cuh"

BATCHED(team, TeamFor)
