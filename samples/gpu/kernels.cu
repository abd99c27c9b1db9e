// A CUDA program of which every launch is known: kernels on two streams, a graph, copies, fills. It prints, as JSON, how
// many of each a recording must hold, and how long its loop took. scripts/gpu-check compares.
//
//     nvcc -O2 -std=c++17 -cudart static -o kernels kernels.cu && rankscope record --out k.rankscope -- ./kernels
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                        \
  do {                                                                                                     \
    const cudaError_t status = (call);                                                                     \
    if (status != cudaSuccess) {                                                                           \
      std::fprintf(stderr, "kernels: %s: %s (%s:%d)\n", #call, cudaGetErrorString(status), __FILE__, __LINE__); \
      std::exit(1);                                                                                        \
    }                                                                                                      \
  } while (0)

// Plain names, so that nothing has to be demangled.
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

/// Runs for so many ns of the GPU's own timer, at least.
extern "C" __global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

extern "C" __global__ void in_graph(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 0.5F;
}

int main() {
  constexpr int rounds = 200, floats = 1 << 18, replays = 50, nodes = 3, moves = 20;
  constexpr std::size_t bytes = floats * sizeof(float);
  constexpr unsigned long long spin_ns = 50'000;
  float *host = nullptr, *x = nullptr, *y = nullptr, *z = nullptr;
  CHECK(cudaMallocHost(&host, bytes));
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  CHECK(cudaMalloc(&z, bytes));
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));

  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) in_graph<<<floats / 256, 256, 0, a>>>(y, floats);
  CHECK(cudaStreamEndCapture(a, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaDeviceSynchronize());

  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    CHECK(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, a));
    axpy<<<floats / 256, 256, 0, a>>>(2.0F, x, y, floats);
    CHECK(cudaMemsetAsync(z, 0, bytes, b));
    spin<<<1, 1, 0, b>>>(spin_ns);
  }
  for (int i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(ready, a));
  for (int i = 0; i < moves; ++i) {
    CHECK(cudaMemcpyAsync(z, y, bytes, cudaMemcpyDeviceToDevice, a));
    CHECK(cudaMemcpyAsync(host, z, bytes, cudaMemcpyDeviceToHost, a));
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const auto end = std::chrono::steady_clock::now();

  std::printf("{\"kernels\": {\"axpy\": %d, \"spin\": %d, \"in_graph\": %d}, \"at_least_ns\": {\"spin\": %llu},\n", rounds, rounds,
              replays * nodes, spin_ns);
  std::printf(" \"copies\": {\"HtoD\": [%d, %zu], \"DtoD\": [%d, %zu], \"DtoH\": [%d, %zu]},\n", rounds, rounds * bytes, moves,
              moves * bytes, moves, moves * bytes);
  std::printf(" \"memsets\": [%d, %zu], \"loop_ns\": %lld}\n", rounds, rounds * bytes,
              static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count()));
  return 0;
}
