// Damaged segments: whatever bytes a disk or a copy gives back, reading ends with a Run or a sentence. Sanitizers
// watch.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

std::string live_segment(const fs::path& path) {
  {
    auto segment = *SegmentWriter::create({.path = path, .rank = 0, .world_size = 1, .rank_source = "RANK"});
    const auto pen = segment->thread();
    for (int i = 0; i < 40; ++i) {
      pen->push(SpanKind::step, "step");
      pen->attribute("index", i);
      pen->attribute("note", "text");
      pen->comm_enqueued({.uid = static_cast<std::uint64_t>(i),
                          .sequence = i,
                          .bytes = 8,
                          .group = "dp",
                          .op = "allreduce",
                          .dtype = "f32",
                          .members = "0"});
      pen->comm_started(static_cast<std::uint64_t>(i));
      pen->comm_finished(static_cast<std::uint64_t>(i));
      pen->range_start(SpanKind::user, "range", static_cast<std::uint64_t>(i));
      pen->range_end(static_cast<std::uint64_t>(i));
      pen->counter("rss_bytes", i);
      pen->mark("mark");
      pen->metadata("key", "value");
      pen->clock_pair();
      pen->pop();
    }
  }
  std::ifstream file{path, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  bytes.resize(segment_header_bytes + chunk_bytes);  // one chunk; the rest of the extent is free
  return bytes;
}

TEST(DamagedSegment, NeverCrashesAndNeverLies) {
  std::string name = (fs::temp_directory_path() / "rankscope-mutation-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const fs::path path = folder / "a.rseg";
  const std::string good = live_segment(path);
  std::mt19937 random{20261121};  // fixed: a failure can be repeated
  const auto below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random);
  };
  int readable = 0;
  for (int round = 0; round < 600; ++round) {
    std::string bad = good;
    // Most damage goes where the records are; the headers get their share.
    const std::size_t first = round % 4 == 0 ? 0 : segment_header_bytes;
    for (std::size_t hits = 1 + below(8); hits > 0; --hits) bad[first + below(8000)] = static_cast<char>(below(256));
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bad;
    const auto run = read_recording(folder);
    if (!run) {
      EXPECT_FALSE(run.error().message.empty());
      continue;
    }
    ++readable;
    std::ostringstream text;
    write_text(**run, text);
    for (const Span& span : (*run)->spans()) EXPECT_LE(span.time.begin, span.time.end);
  }
  EXPECT_GT(readable, 300);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rankscope::recording
