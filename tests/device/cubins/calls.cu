#include <cstdio>
typedef float (*F)(float);
__device__ __noinline__ float f1(float x){return x*2;}
__device__ __noinline__ float f2(float x){return x+1;}
__device__ F table[2]={f1,f2};
__device__ int counter=5; __device__ int zeros[100]; __constant__ float cc[4]={1,2,3,4};
__device__ __noinline__ int fib(int n){ return n<2?n:fib(n-1)+fib(n-2);}
extern "C" __global__ void k(float*p,int n){ int i=threadIdx.x; F f=table[i&1]; p[i]=f(p[i])+cc[i&3]; counter+=zeros[i]; if(i==0) zeros[3]=fib(n);}
extern "C" __global__ void pr(int n){ printf("hello %d %f\n", threadIdx.x, 1.5*n); if (n<0) __trap(); }
