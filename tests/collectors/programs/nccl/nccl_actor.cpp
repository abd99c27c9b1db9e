// Plays one scene of NCCL to the profiler plugin, of one version of the interface.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "nccl_player.h"
#include "rankscope/collectors/annotate.h"

namespace {

namespace annotate = rankscope::annotate;
using nccl_actor::fail;
using nccl_actor::gpu_now;
using nccl_actor::Nccl;
using nccl_actor::own_rank;
using nccl_actor::require;
using std::size_t;
using std::uint64_t;

constexpr uint64_t world_hash = 0xFEDCBA9876543210;

void play_operations(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2, version == 4 ? "mine" : nullptr);
  for (uint64_t i = 0; i < 3; ++i) nccl.stop(nccl.all_reduce(context, i, 1000));
  if (version != 1) nccl.stop(nccl.send(context, 1 - own_rank()));
  nccl.finalize(context);
}

/// The API call knows the type of what the operation counts in bytes.
void play_typed(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  void* const api = nccl.call(context, nccl_actor::coll_call, "ncclFloat64");
  void* const gather = nccl.all_gather(context, 0, 80, api);
  nccl.stop(gather);
  uint64_t end = gpu_now();
  void* const channel = nccl.kernel_channel(context, gather, end - 1000);
  nccl.state(channel, 22, &end);
  nccl.stop(channel);
}

/// What a channel's end says comes late: behind the collective's, and behind the communicator's.
void play_channels(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  void* const operation = nccl.all_reduce(context, 0, 1000);
  nccl.stop(operation);
  std::thread{[&] {
    const uint64_t begin = gpu_now();
    void* const first = nccl.kernel_channel(context, operation, begin);
    void* const second = nccl.kernel_channel(context, operation, begin + 2'000);
    uint64_t end = begin + 50'000;
    nccl.state(first, 22, &end);
    nccl.stop(first);
    nccl.finalize(context);
    end += 10'000;
    nccl.state(second, 22, &end);
    nccl.stop(second);
    nccl.stop(second);  // twice
    nccl.state(second, 22, nullptr);
  }}.join();
}

void play_proxy(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  void* const operation = nccl.all_reduce(context, 0, 1000);
  nccl.stop(operation);
  std::thread{[&] {
    void* const proxy = nccl.proxy_op(context, operation, true, getpid());
    for (size_t i = 0; i < 4; ++i) {
      void* const step = nccl.proxy_step(context, proxy);
      size_t bytes = 512;
      nccl.state(step, 8, nullptr);
      nccl.state(step, 20, &bytes);
      nccl.state(step, 9, &bytes);
      nccl.stop(step);
    }
    nccl.stop(proxy);
    void* const other = nccl.proxy_op(context, reinterpret_cast<void*>(0x1234567), false, getpid() + 1);
    nccl.stop(other);
  }}.join();
  nccl.finalize(context);
}

/// A program that announces what it has NCCL do: three on a thread of their own, then two in one group, one of which
/// has the bytes of no other. What the last one does is announced by nobody.
void play_announced(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  const auto announce = [](uint64_t number, uint64_t bytes, const char* op, int peer) {
    annotate::collective_enqueued({.uid = number + 1,
                                   .sequence = number,
                                   .bytes = bytes,
                                   .group = "dp",
                                   .op = op,
                                   .dtype = "f32",
                                   .members = "0,1",
                                   .peer = peer});
  };
  std::vector<void*> told;
  const auto reduce = [&](uint64_t number, size_t count) {
    told.push_back(nccl.all_reduce(context, number, count));
    nccl.stop(told.back());
  };
  for (uint64_t i = 0; i < 3; ++i) {
    announce(i, 4000, "allreduce", -1);
    std::thread{[&] {
      annotate::name_thread("comm dp");
      annotate::collective_started(i + 1);
      reduce(i, 1000);
      annotate::collective_finished(i + 1);
    }}.join();
  }
  announce(3, 80, "allreduce", -1);
  announce(4, 200, "send", 1 - own_rank());
  told.push_back(nccl.send(context, 1 - own_rank()));
  nccl.stop(told.back());
  reduce(3, 20);
  reduce(4, 5000);
  nccl.run_channels(context, told);
  nccl.finalize(context);
}

void play_exhaustion() {
  Nccl nccl{5};
  void* const context = nccl.join(world_hash, 2);
  void* const operation = nccl.all_reduce(context, 0, 1000);
  std::vector<void*> open;
  for (int i = 0; i < 8192 + 100; ++i) open.push_back(nccl.kernel_channel(context, operation, gpu_now()));
  for (void* const handle : open) nccl.stop(handle);
  require(nccl.kernel_channel(context, operation, gpu_now()) != nullptr, "slots do not come back");
  nccl.stop(operation);
}

void play_oddities(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  require(nccl.unknown(context) == nullptr, "an unknown event has a handle");
  require(nccl.all_reduce(nullptr, 0, 1) == nullptr, "an event without a context has a handle");
  for (const uint64_t handle : {uint64_t{0}, uint64_t{3}, ~uint64_t{0}, uint64_t{0xFFFFFFFFFFF3}}) {
    nccl.state(reinterpret_cast<void*>(handle), 9, nullptr);
    nccl.stop(reinterpret_cast<void*>(handle & ~uint64_t{1}));
  }
  void* const operation = nccl.all_reduce(context, 1, 1);
  void* const channel = nccl.kernel_channel(context, operation, gpu_now());
  require(version < 7 || nccl.kernel_phase(context, channel) == nullptr, "a phase that is not asked for has a handle");
  nccl.stop(channel);
  nccl.stop(operation);
  nccl.stop(nccl.kernel_channel(context, reinterpret_cast<void*>(0x3), 1));
  nccl.stop(nccl.proxy_step(context, reinterpret_cast<void*>(0xFFFF3)));
  nccl.stop(nccl.all_reduce(context, 0, 1));
  nccl.finalize(context);
}

/// A thread of CUDA reports what the main thread called 20 ms before, and announces that it will.
void play_callback(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  void* const call = nccl.call(context, nccl_actor::coll_call, "ncclFloat32");
  usleep(20'000);
  std::vector<void*> told;
  std::thread{[&] {
    annotate::mark("reporting");
    nccl_actor::Plan plan;
    told.push_back(nccl.collective(context, plan, {.sequence = 0, .count = 1000}, call));
    nccl.stop(told.back());
  }}.join();
  nccl.run_channels(context, told);
  nccl.finalize(context);
}

/// RCCL, whose timer counts ticks of 10 ns: for two seconds its rate is not proven. By the timer, each channel works
/// for 4 ms, but its end is reported at once.
void play_ticks(int version) {
  require(dlopen(std::getenv("STANDIN_RCCL"), RTLD_NOW) != nullptr, "no RCCL");
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  for (uint64_t i = 0; i < 34; ++i) {
    if (i > 0) usleep(100'000);
    void* const operation = nccl.all_reduce(context, i, 1000 + i);
    nccl.stop(operation);
    std::thread{[&] {
      const uint64_t begin = gpu_now();
      void* const channel = nccl.kernel_channel(context, operation, begin / 10);
      uint64_t end = (begin + 4'000'000) / 10;
      nccl.state(channel, 22, &end);
      nccl.stop(channel);
    }}.join();
  }
  nccl.finalize(context);
}

void play_threads() {
  constexpr int threads = 4;
  constexpr uint64_t operations = 500;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([i] {
      Nccl nccl{5};
      void* const context = nccl.join(world_hash + static_cast<uint64_t>(i), 2);
      std::vector<void*> open;
      for (uint64_t k = 0; k < operations; ++k) {
        void* const operation = nccl.all_reduce(context, k, 10);
        nccl.stop(operation);
        open.push_back(operation);
      }
      nccl.run_channels(context, open);
      nccl.finalize(context);
    });
  for (std::thread& thread : running) thread.join();
}

/// The launching thread and host functions of a stream tell of one communicator at a time.
void play_shared(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  std::vector<std::thread> running;
  for (int i = 0; i < 4; ++i)
    running.emplace_back([&] {
      for (uint64_t k = 0; k < 100; ++k) nccl.stop(nccl.all_reduce(context, k, 10));
    });
  for (std::thread& thread : running) thread.join();
  nccl.finalize(context);
}

/// One collective in each of three steps, of which the middle one is in the window.
void play_window(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  for (uint64_t i = 0; i < 3; ++i) {
    annotate::Span step{annotate::Kind::step, "step"};
    step.with("index", static_cast<std::int64_t>(i));
    nccl_actor::Plan plan;
    void* const operation = nccl.collective(context, plan, {.sequence = i, .count = 1000}, nullptr);
    require(plan.group != nullptr, "a group has no handle");
    require((operation != nullptr) == (i == 1), "the handle of a collective says whether it is stored");
    nccl.stop(operation);
  }
  nccl.finalize(context);
}

/// A CUDA graph, and 100 collectives beside it. Rank 0 needs NCCL's proxy, so that a thread of CUDA's reports each
/// launch of the graph; of rank 1 nothing, and from 2.27 on what is captured. NCCL's number stays at what a graph
/// launches.
void play_graph(int version) {
  Nccl nccl{version};
  void* const context = nccl.join(world_hash, 2);
  void* const captured = nccl.call(context, nccl_actor::coll_call, "ncclFloat32", nccl_actor::Captured::yes);
  void* const call = nccl.call(context, nccl_actor::coll_call, "ncclFloat32");
  nccl_actor::Plan graph;
  const auto report_graph = [&](uint64_t number) {
    nccl.stop(nccl.collective(context, graph, {.sequence = number, .count = 1}, captured));
  };
  const auto launch_graph = [&](uint64_t number) {
    if (own_rank() == 0) std::thread{report_graph, number}.join();
  };
  const auto run = [&](const char* function, uint64_t number, size_t count) {
    nccl_actor::Plan plan;
    void* const operation = nccl.collective(context, plan, {function, number, count}, call);
    nccl.stop(operation);
    nccl.stop(nccl.proxy_op(context, operation, true, getpid()));
  };
  if (own_rank() == 1 && version >= 4) report_graph(0);
  for (int i = 0; i < 5; ++i) launch_graph(0);
  for (uint64_t number = 0; number < 50; ++number) {
    run("AllReduce", number, 1000 + number);
    launch_graph(number + 1);
    run("Broadcast", number, 2000 + number);
  }
  nccl.finalize(context);
}

void print_mask() {
  Nccl nccl{5};
  nccl.join(world_hash, 2);
  std::printf("%d\n", nccl.mask());
  std::exit(nccl.mask() == 0 ? 0 : 10);
}

void play(const std::string& scene, int version) {
  if (scene == "operations") return play_operations(version);
  if (scene == "typed") return play_typed(version);
  if (scene == "channels") return play_channels(version);
  if (scene == "proxy") return play_proxy(version);
  if (scene == "announced") return play_announced(version);
  if (scene == "exhaustion") return play_exhaustion();
  if (scene == "oddities") return play_oddities(version);
  if (scene == "callback") return play_callback(version);
  if (scene == "ticks") return play_ticks(version);
  if (scene == "threads") return play_threads();
  if (scene == "shared") return play_shared(version);
  if (scene == "graph") return play_graph(version);
  if (scene == "window") return play_window(version);
  if (scene == "mask") return print_mask();
  fail("no such scene");
}

}  // namespace

/// nccl_actor SCENE VERSION [RANKS]: with RANKS it plays in as many processes.
int main(int argc, char** argv) {
  require(argc >= 3, "nccl_actor SCENE VERSION [RANKS]");
  const int ranks = argc > 3 ? std::stoi(argv[3]) : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
    execl(argv[0], argv[0], argv[1], argv[2], nullptr);
    std::_Exit(4);
  }
  if (ranks == 0) {
    play(argv[1], std::stoi(argv[2]));
    return 0;
  }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) worst = 1;
  return worst;
}
