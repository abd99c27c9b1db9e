// Kineto JSON -> Run: 430 MB of it, the way a user opens a run of 8 ranks. CPU time of all threads; the budget is 300
// MB per second and core. anonymous_share is the peak of memory that is no mapped file, over the size of the JSON. With
// keep_texts, no secrets are searched: the difference is what that costs.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr int ranks = 8;

std::string unpacked(const fs::path& path) {
  std::string text;
  const gzFile in = gzopen(path.c_str(), "rb");
  if (in == nullptr) return text;
  std::vector<char> block(1 << 20);
  for (int size = 0; (size = gzread(in, block.data(), static_cast<unsigned>(block.size()))) > 0;)
    text.append(block.data(), static_cast<std::size_t>(size));
  gzclose(in);
  return text;
}

/// The trace of one rank of two, written eight times with only the rank changed.
class Traces {
 public:
  Traces() {
    const fs::path source = fs::path{RANKSCOPE_SHARED_DATA} / "kineto/ddp_v100_rank1of2/df_index_resolver.json.gz";
    const std::string text = unpacked(source);
    const std::string own = "\"rank\": 1";
    const auto at = text.find(own);
    if (at == std::string::npos) return;
    packed_bytes_ = fs::file_size(source);
    fs::copy_file(source, folder_ / "packed.json.gz");
    fs::create_directory(folder_ / "plain");
    for (int rank = 0; rank < ranks; ++rank) {
      std::ofstream out{folder_.path() / "plain" / ("rank-" + std::to_string(rank) + ".json"), std::ios::binary};
      out << text.substr(0, at) << "\"rank\": " << rank << text.substr(at + own.size());
      bytes_ += text.size();
    }
  }
  [[nodiscard]] bool found() const { return bytes_ > 0; }
  [[nodiscard]] fs::path plain() const { return folder_.path() / "plain"; }
  [[nodiscard]] fs::path packed() const { return folder_.path() / "packed.json.gz"; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  testing::TemporaryFolder folder_;
  std::size_t bytes_ = 0;
  std::size_t packed_bytes_ = 0;
};

const Traces& traces() {
  static const Traces made;
  return made;
}

/// Memory of this process that no file stands behind, in bytes.
std::size_t anonymous_memory() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8)) * 1024;
  return 0;
}

/// Looks now and then while it lives.
class MemoryPeak {
 public:
  MemoryPeak() : before_(anonymous_memory()), watcher_([this](const std::stop_token& stop) { watch(stop); }) {}
  std::size_t end() {
    watcher_.request_stop();
    watcher_.join();
    return peak_ > before_ ? peak_ - before_ : 0;
  }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak_ = std::max(peak_.load(), anonymous_memory());
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
  std::size_t before_;
  std::atomic<std::size_t> peak_ = 0;
  std::jthread watcher_;
};

void open(benchmark::State& state, const fs::path& path, std::size_t bytes, Texts texts = Texts::without_secrets) {
  if (!traces().found()) {
    state.SkipWithError("there are no recordings of other profilers here (CMake variable RANKSCOPE_SHARED_DATA)");
    return;
  }
  std::size_t peak = 0;
  for (auto iteration : state) {
    MemoryPeak memory;
    const auto run = analyzer::open_run(std::span{&path, 1}, {.rank_map = {}, .progress = {}, .texts = texts});
    if (!run) state.SkipWithError(run.error().message.c_str());
    benchmark::DoNotOptimize(run);
    peak = std::max(peak, memory.end());
  }
  state.counters["anonymous_share"] = static_cast<double>(peak) / static_cast<double>(bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void kineto_plain_8_ranks(benchmark::State& state) { open(state, traces().plain(), traces().bytes()); }
void kineto_plain_8_ranks_keep_texts(benchmark::State& state) {
  open(state, traces().plain(), traces().bytes(), Texts::as_recorded);
}
void kineto_packed_1_rank(benchmark::State& state) { open(state, traces().packed(), traces().bytes() / ranks); }
/// What unpacking alone costs: the program, and zlib with the whole text in memory.
void gunzip_1_rank(benchmark::State& state) {
  const std::string command = "gunzip -c '" + traces().packed().string() + "' > /dev/null";
  for (auto iteration : state)
    if (std::system(command.c_str()) != 0) state.SkipWithError("gunzip failed");
  state.SetBytesProcessed(static_cast<std::int64_t>(traces().bytes() / ranks) * state.iterations());
}
void zlib_1_rank(benchmark::State& state) {
  for (auto iteration : state) benchmark::DoNotOptimize(unpacked(traces().packed()));
  state.SetBytesProcessed(static_cast<std::int64_t>(traces().bytes() / ranks) * state.iterations());
}

BENCHMARK(kineto_plain_8_ranks)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(kineto_plain_8_ranks_keep_texts)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(kineto_packed_1_rank)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(gunzip_1_rank)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(zlib_1_rank)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace rankscope
