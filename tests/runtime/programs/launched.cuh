// What launches.cu and launched.cu share.

#pragma once

struct Block {
    double factor;
    char sign;
    int values[5];
};

__global__ void weigh(int *out, Block block, short offset);
__global__ void append(int *word, int digit);
