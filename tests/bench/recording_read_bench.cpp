// Native recording -> Run: 10 M events of 8 ranks, written through the recorder's own writer and gathered as after a
// run.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

constexpr int ranks = 8;
constexpr std::int64_t events = 10'000'000;  // spans; a push and a pop are one
constexpr int spans_per_step = 1'000;

/// A step: one span around layers around operators, an attribute on each tenth, a collective and a counter.
void write_step(ThreadWriter& pen, std::int64_t step) {
  pen.push(SpanKind::step, "step");
  pen.attribute("index", step);
  for (int layer = 0; layer < (spans_per_step - 2) / 10; ++layer) {
    pen.push(SpanKind::forward, "layer");
    pen.attribute("layer", layer);
    for (int op = 0; op < 9; ++op) {
      pen.push(SpanKind::op, op % 2 == 0 ? "aten::addmm" : "aten::relu");
      pen.pop();
    }
    pen.pop();
  }
  const auto uid = static_cast<std::uint64_t>(step);
  pen.comm_enqueued({.uid = uid,
                     .sequence = step,
                     .bytes = 1 << 20,
                     .group = "dp",
                     .op = "allreduce",
                     .dtype = "f32",
                     .members = "0,1,2,3,4,5,6,7"});
  pen.comm_started(uid);
  pen.comm_finished(uid);
  pen.counter("allocated_bytes", 1e9);
  pen.pop();
}

class Recording {
 public:
  Recording() {
    std::string name = (fs::temp_directory_path() / "rankscope-bench-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ / segment_folder);
    for (int rank = 0; rank < ranks; ++rank) write_rank(rank);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  void write_rank(int rank) const {
    const fs::path live = folder_ / "live";
    {
      auto segment = SegmentWriter::create({.path = live, .rank = rank, .world_size = ranks, .rank_source = "RANK"});
      if (!segment) throw std::runtime_error(segment.error().message);
      const auto pen = (*segment)->thread();
      for (std::int64_t step = 0; step < events / ranks / spans_per_step; ++step) {
        (*segment)->refill();  // what the housekeeping thread does meanwhile
        write_step(*pen, step);
      }
      if ((*segment)->header().events_dropped > 0) throw std::runtime_error("the ring was too small");
      (*segment)->note_exit(0);
    }
    const auto gathered = gather_segment(live, folder_ / segment_folder / format("rank-{}.rseg", rank));
    if (!gathered) throw std::runtime_error(gathered.error().message);
    fs::remove(live);
  }

  fs::path folder_;
};

void read_10M_events(benchmark::State& state) {
  static const Recording recording;
  std::size_t spans = 0;
  for ([[maybe_unused]] const auto turn : state) {
    const auto run = read_recording(recording.folder());
    if (!run) return state.SkipWithError(run.error().message.c_str());
    spans = (*run)->spans().size();
  }
  state.counters["spans"] = static_cast<double>(spans);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(spans));
}
BENCHMARK(read_10M_events)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace rankscope::recording
