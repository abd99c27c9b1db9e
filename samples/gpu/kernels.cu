// A CUDA program of which every launch is known: kernels on two streams, a graph, copies, fills, events. It prints, as JSON,
// how many of each a recording must hold, and how long its loop took. scripts/gpu-check compares.
//
//     nvcc -O2 -std=c++17 -cudart static -o kernels kernels.cu && rankscope record --out k.rankscope -- ./kernels
//
// --rounds N   rounds of the loop (default 2000), each about 50 µs long; 0 runs only what comes before the loop
// --seconds S  after the loop: idle for a second, S seconds with every SM busy, idle for a second
// --range      calls cudaProfilerStart before the loop and cudaProfilerStop after it
// --leave      ends with _exit 1.2 s after the loop, without running the exit handlers
#include <cuda_profiler_api.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#define CHECK(call)                                                                                               \
  do {                                                                                                            \
    const cudaError_t status = (call);                                                                            \
    if (status != cudaSuccess) {                                                                                  \
      std::fprintf(stderr, "kernels: %s: %s (%s:%d)\n", #call, cudaGetErrorString(status), __FILE__, __LINE__);   \
      std::exit(1);                                                                                               \
    }                                                                                                             \
  } while (0)

// Plain names, so that nothing has to be demangled.
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__device__ void spin_for(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

/// Runs for so many ns of the GPU's own timer, at least.
extern "C" __global__ void spin(unsigned long long ns) { spin_for(ns); }

/// The same; launched so that every SM holds as many of it as it can.
extern "C" __global__ void hold(unsigned long long ns) { spin_for(ns); }

extern "C" __global__ void in_graph(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 0.5F;
}

namespace {

constexpr int floats = 1 << 18, nodes = 3, rounds_per_replay = 4, rounds_per_move = 10;
constexpr std::size_t bytes = floats * sizeof(float);
constexpr unsigned long long spin_ns = 50'000, hold_ns = 10'000'000;

struct Options {
  int rounds = 2000;
  double seconds = 0;
  bool range = false, leave = false;
};

/// What a recording must hold.
struct Told {
  int rounds = 0, replays = 0, moves = 0, holds = 0;
};

struct Work {
  float *host = nullptr, *x = nullptr, *y = nullptr, *z = nullptr;
  cudaStream_t a{}, b{};
  cudaGraphExec_t graph{};
  cudaEvent_t copied{};
};

Options options_from(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];  // std::string of a static libstdc++ needs glibc 2.36
    const bool has_value = i + 1 < argc;
    if (word == "--range")
      options.range = true;
    else if (word == "--leave")
      options.leave = true;
    else if (word == "--rounds" && has_value)
      options.rounds = std::atoi(argv[++i]);
    else if (word == "--seconds" && has_value)
      options.seconds = std::atof(argv[++i]);
    else
      std::fprintf(stderr, "kernels: unknown option %s\n", argv[i]), std::exit(2);
  }
  return options;
}

Work prepare() {
  Work work;
  CHECK(cudaMallocHost(&work.host, bytes));
  std::memset(work.host, 0, bytes);
  CHECK(cudaMalloc(&work.x, bytes));
  CHECK(cudaMalloc(&work.y, bytes));
  CHECK(cudaMalloc(&work.z, bytes));
  CHECK(cudaStreamCreate(&work.a));
  CHECK(cudaStreamCreate(&work.b));
  CHECK(cudaEventCreate(&work.copied));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(work.a, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) in_graph<<<floats / 256, 256, 0, work.a>>>(work.y, floats);
  CHECK(cudaStreamEndCapture(work.a, &graph));
  CHECK(cudaGraphInstantiate(&work.graph, graph, 0));
  return work;
}

void round_of(const Work& work, Told& told) {
  CHECK(cudaMemcpyAsync(work.x, work.host, bytes, cudaMemcpyHostToDevice, work.a));
  axpy<<<floats / 256, 256, 0, work.a>>>(2.0F, work.x, work.y, floats);
  CHECK(cudaMemsetAsync(work.z, 0, bytes, work.b));
  spin<<<1, 1, 0, work.b>>>(spin_ns);
  ++told.rounds;
}

void replay(const Work& work, Told& told) {
  CHECK(cudaGraphLaunch(work.graph, work.a));
  ++told.replays;
}

void move(const Work& work, Told& told) {
  CHECK(cudaMemcpyAsync(work.z, work.y, bytes, cudaMemcpyDeviceToDevice, work.a));
  CHECK(cudaMemcpyAsync(work.host, work.z, bytes, cudaMemcpyDeviceToHost, work.a));
  ++told.moves;
}

/// Everything once, so that nothing is loaded in the loop; and one stream waits for an event of the other.
void warm_up(const Work& work, Told& told) {
  round_of(work, told);
  replay(work, told);
  move(work, told);
  CHECK(cudaEventRecord(work.copied, work.a));
  CHECK(cudaStreamWaitEvent(work.b, work.copied, 0));
  CHECK(cudaEventSynchronize(work.copied));
  CHECK(cudaStreamSynchronize(work.b));
  CHECK(cudaDeviceSynchronize());
}

long long loop(const Work& work, int rounds, Told& told) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    round_of(work, told);
    if (i % rounds_per_replay == 0) replay(work, told);
    if (i % rounds_per_move == 0) move(work, told);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
}

void keep_busy(const Work& work, double seconds, Told& told) {
  int device = 0, processors = 0, each = 0;
  constexpr int threads = 1024;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, hold, threads, 0));
  usleep(1'000'000);
  const int launches = static_cast<int>(seconds * 1e9 / hold_ns);
  for (int i = 0; i < launches; ++i) hold<<<processors * each, threads, 0, work.a>>>(hold_ns);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  usleep(1'000'000);
  told.holds += launches;
}

void print(const char* name, const Told& told) {
  std::printf("\"%s\": {\"kernels\": {\"axpy\": %d, \"spin\": %d, \"in_graph\": %d, \"hold\": %d},\n", name, told.rounds, told.rounds,
              told.replays * nodes, told.holds);
  std::printf("  \"copies\": {\"HtoD\": [%d, %zu], \"DtoD\": [%d, %zu], \"DtoH\": [%d, %zu]},\n", told.rounds, told.rounds * bytes,
              told.moves, told.moves * bytes, told.moves, told.moves * bytes);
  std::printf("  \"memsets\": [%d, %zu], \"replays\": %d},\n", told.rounds, told.rounds * bytes, told.replays);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_from(argc, argv);
  const Work work = prepare();
  Told all, before;
  warm_up(work, all);
  before = all;
  if (options.range) CHECK(cudaProfilerStart());
  const long long loop_ns = loop(work, options.rounds, all);
  if (options.range) CHECK(cudaProfilerStop());
  const Told in_loop{all.rounds - before.rounds, all.replays - before.replays, all.moves - before.moves, 0};
  if (options.seconds > 0) keep_busy(work, options.seconds, all);
  std::printf("{");
  print("all", all);
  print("loop", in_loop);
  std::printf("\"at_least_ns\": {\"spin\": %llu, \"hold\": %llu}, \"loop_ns\": %lld}\n", spin_ns, hold_ns, loop_ns);
  std::fflush(stdout);
  if (options.leave) {
    usleep(1'200'000);
    _exit(0);
  }
  return 0;
}
