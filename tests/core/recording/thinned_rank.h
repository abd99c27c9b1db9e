// A rank that writes steps, and what is read of it afterwards.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "rankscope/core/recording/thinner.h"

namespace rankscope::recording::thinning {

namespace fs = std::filesystem;

/// Nothing is reported late here, so that no test has to wait.
inline constexpr LiveLimits at_once{
    .steps = 1U << 14, .stretches = 1U << 22, .device_delay = nanoseconds{0}, .host_delay = nanoseconds{0}};

inline HostTime now() { return HostTime{nanoseconds{static_cast<std::int64_t>(TickClock::now_monotonic())}}; }

/// In ns since 1970, as devices report their times.
inline std::int64_t wall_now() {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::uint64_t blocks_of(const fs::path& file) {
  struct stat facts {};
  return stat(file.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
}

/// One rank that writes steps of some hundred operations.
struct Rank {
  explicit Rank(const fs::path& folder, std::int32_t rank = 0)
      : path(folder / ("rank-" + std::to_string(rank) + segment_suffix)) {
    auto made =
        SegmentWriter::create({.path = path, .ring_kib = 4096, .rank = rank, .world_size = 2, .rank_source = "RANK"});
    if (!made) throw std::runtime_error(made.error().message);
    writer = std::move(*made);
    pen = writer->thread();
    thinner.emplace(path, at_once);
  }

  void step() {
    pen->push(SpanKind::step, "train");
    pen->attribute("index", next);
    for (int i = 0; i < 200; ++i) {
      pen->push(SpanKind::op, "aten::mm");
      pen->pop();
    }
    const auto uid = static_cast<std::uint64_t>(next);
    pen->comm_enqueued({.uid = uid,
                        .sequence = next,
                        .bytes = 1000,
                        .group = "all",
                        .op = "allreduce",
                        .dtype = "f32",
                        .members = "0,1"});
    pen->comm_started(uid);
    std::this_thread::sleep_for(std::chrono::microseconds{1});  // an operation of an optimized build may take 0 ns
    pen->comm_finished(uid);
    pen->pop();
    writer->refill();
    ++next;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      step();
      if (i % 10 == 9) thinner->follow(1U << 30);  // as a recorder does, again and again
    }
    thinner->follow(1U << 30);
  }
  Thinner::GivenUp give_up(HostTime until, Thinner::Steps steps = Thinner::Steps::whole) {
    const auto given = thinner->give_up(until, steps);
    EXPECT_TRUE(given) << (given ? "" : given.error().message);
    writer->refill();
    return given.value_or(Thinner::GivenUp{});
  }

  fs::path path;
  std::unique_ptr<SegmentWriter> writer;
  std::unique_ptr<ThreadWriter> pen;
  std::optional<Thinner> thinner;
  std::int64_t next = 0;
};

/// The steps of a rank in their order, and how many of them are sums.
struct SeenSteps {
  std::vector<std::int64_t> indices;
  std::size_t thinned = 0;
  std::size_t operations = 0;
};

inline SeenSteps steps_of(const Run& run, RankId rank) {
  SeenSteps seen;
  for (const Lane& lane : run.lanes()) {
    if (run.processes()[lane.process].rank != rank) continue;
    for (const Span& span : run.spans_of(lane)) {
      const SpanId id = run.id_of(span);
      if (span.kind == SpanKind::op) ++seen.operations;
      if (span.kind != SpanKind::step || (span.flags & span_flag::cut_end) != 0) continue;  // it may have no index yet
      seen.indices.push_back(run.number(id, "index").value_or(-1));
      if (run.number(id, "thinned").value_or(0) == 1) ++seen.thinned;
    }
  }
  return seen;
}

inline std::uint64_t data_loss_in(const Run& run) {
  std::uint64_t lost = 0;
  for (const CounterInfo& info : counter_table())
    if (info.severity == Severity::data_loss && info.counter != Counter::ranks_missing)
      lost += run.quality().of(info.counter);
  return lost;
}

inline void expect_all_steps(const SeenSteps& seen, std::int64_t count) {
  ASSERT_EQ(std::ssize(seen.indices), count);
  for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(seen.indices[static_cast<std::size_t>(i)], i);
}

}  // namespace rankscope::recording::thinning
