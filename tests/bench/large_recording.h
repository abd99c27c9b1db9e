// A native recording of 10 M events of 8 ranks, written through the recorder's own writer and gathered as after a run.
#pragma once

#include <filesystem>
#include <stdexcept>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::bench {

namespace fs = std::filesystem;

inline constexpr int ranks = 8;
inline constexpr std::int64_t events = 10'000'000;  // spans; a push and a pop are one
inline constexpr int spans_per_step = 1'000;

/// A step: one span around layers around operators, an attribute on each tenth, a collective and a counter.
inline void write_step(recording::ThreadWriter& pen, std::int64_t step) {
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

/// On disk as long as it lives.
class LargeRecording {
 public:
  LargeRecording() {
    std::string name = (fs::temp_directory_path() / "rankscope-bench-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ / recording::segment_folder);
    for (int rank = 0; rank < ranks; ++rank) write_rank(rank);
  }
  LargeRecording(const LargeRecording&) = delete;
  LargeRecording& operator=(const LargeRecording&) = delete;
  ~LargeRecording() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  void write_rank(int rank) const {
    const fs::path live = folder_ / "live";
    {
      auto segment =
          recording::SegmentWriter::create({.path = live, .rank = rank, .world_size = ranks, .rank_source = "RANK"});
      if (!segment) throw std::runtime_error(segment.error().message);
      const auto pen = (*segment)->thread();
      for (std::int64_t step = 0; step < events / ranks / spans_per_step; ++step) {
        (*segment)->refill();  // what the housekeeping thread does meanwhile
        write_step(*pen, step);
      }
      if ((*segment)->header().events_dropped > 0) throw std::runtime_error("the ring was too small");
      (*segment)->note_exit(0);
    }
    const auto gathered =
        recording::gather_segment(live, folder_ / recording::segment_folder / format("rank-{}.rseg", rank));
    if (!gathered) throw std::runtime_error(gathered.error().message);
    fs::remove(live);
  }

  fs::path folder_;
};

}  // namespace rankscope::bench
