// 5,000 mutated inputs and 400 truncations of each format: reading ends with a Run or a sentence, and what has a
// checksum is never changed silently.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "rankscope/core/recording/thinner.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::TemporaryFolder;

constexpr std::size_t mutations = 5000;  // of each format
constexpr std::size_t truncations = 400;

enum class Checksum : std::uint8_t { none, covers_all };

/// A file that is damaged, and what is opened then.
struct Format {
  std::string name;
  fs::path damaged;
  fs::path opened;
  Checksum checksum = Checksum::none;
};

std::string text_of(const Run& run) {
  std::ostringstream text;
  write_text(run, text);
  return text.str();
}

/// Opens what may be damaged. True if it looks as before and nothing says that it is not.
bool is_silent(const Format& format, const std::string& before) {
  const auto run = analyzer::open_run(format.opened);
  if (!run) {
    EXPECT_FALSE(run.error().message.empty()) << format.name;
    return false;
  }
  const std::string after = text_of(**run);
  if (format.checksum == Checksum::none || after == before) return false;
  return std::ranges::none_of(counter_table(), [&](const CounterInfo& info) {
    return info.severity != Severity::info && (*run)->quality().of(info.counter) > 0;
  });
}

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A recording of one process, gathered.
void make_recording(const fs::path& folder) {
  fs::create_directories(folder / recording::segment_folder);
  const fs::path live = folder / "live.rseg";
  {
    auto segment = *recording::SegmentWriter::create(
        {.path = live, .ring_kib = 1024, .rank = 0, .world_size = 1, .rank_source = "RANK"});
    const auto pen = segment->thread();
    for (int i = 0; i < 20; ++i) {
      pen->push(SpanKind::step, "step");
      pen->attribute("index", i);
      pen->mark("mark");
      pen->pop();
    }
    segment->note_exit(3);
  }
  ASSERT_TRUE(recording::gather_segment(live, folder / recording::segment_folder / "a.rseg"));
  fs::remove(live);
  recording::Manifest manifest;
  manifest.command = {"train", "--steps", "20"};
  manifest.world_size = 1;
  manifest.exit_status = 3;
  ASSERT_TRUE(recording::write_manifest(folder, manifest));
}

/// A recording of which most steps are sums, which stand in the segment.
void make_thinned_recording(const fs::path& folder) {
  constexpr recording::LiveLimits at_once{
      .steps = 4096, .stretches = 1 << 16, .device_delay = nanoseconds{0}, .host_delay = nanoseconds{0}};
  fs::create_directories(folder / recording::segment_folder);
  const fs::path live = folder / "a.rseg";
  {
    auto segment = *recording::SegmentWriter::create(
        {.path = live, .ring_kib = 1024, .rank = 0, .world_size = 1, .rank_source = "RANK"});
    const auto pen = segment->thread();
    recording::Thinner thinner{live, at_once};
    for (int i = 0; i < 40; ++i) {
      pen->push(SpanKind::step, "step");
      pen->attribute("index", i);
      for (int op = 0; op < 100; ++op) {
        pen->push(SpanKind::op, "op");
        pen->pop();
      }
      pen->pop();
      segment->refill();
      thinner.follow(1U << 30);
    }
    const auto given = thinner.give_up(HostTime{nanoseconds{std::int64_t{1} << 60}}, recording::Thinner::Steps::whole);
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_GT(given->events, 0U);
    segment->note_exit(0);
    ASSERT_TRUE(recording::gather_segment(live, folder / recording::segment_folder / "a.rseg"));
  }
  fs::remove(live);
  fs::remove_all(folder / recording::sums_folder);
  ASSERT_TRUE(recording::write_manifest(folder, {}));
}

void make_database(const fs::path& path) {
  constexpr const char* sound = R"sql(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1,'gemm'),(2,'cudaLaunchKernel_v7000');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName,
      shortName);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,20,0,7,1,281474993487872,1,1),(30,40,0,7,2,281474993487872,1,1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,5,0,281474993487873,1,2,0),(6,8,1,281474993487873,2,2,0);
    CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.25.0');
  )sql";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sound, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

class DamagedInput : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path recording = folder_ / "run.rankscope";
    make_recording(recording);
    const fs::path pack = folder_ / "run.rankscope.tar.zst";
    ASSERT_TRUE(
        analyzer::pack(std::span{&recording, 1}, pack, {.rank_map = {}, .progress = {}, .texts = Texts::as_recorded}));
    const std::string trace = read_file(fs::path{RANKSCOPE_CORPUS} / "kineto_reader" / "modern.json");
    write(folder_ / "rank0.json", trace);
    write(folder_ / "rank0.json.gz", testing::packed(trace));
    write(folder_ / "run.txt", text_of(**recording::read_recording(recording)));
    make_database(folder_ / "report.sqlite");
    const fs::path segment = recording / recording::segment_folder / "a.rseg";
    const fs::path thinned = folder_ / "thinned.rankscope";
    make_thinned_recording(thinned);
    formats_ = {{"segment", segment, recording, Checksum::covers_all},
                {"thinned segment", thinned / recording::segment_folder / "a.rseg", thinned, Checksum::covers_all},
                {"manifest", recording / recording::manifest_name, recording, Checksum::covers_all},
                {"pack", pack, pack, Checksum::covers_all}};
    for (const char* name : {"rank0.json", "rank0.json.gz", "run.txt", "report.sqlite"})
      formats_.push_back({name, folder_ / name, folder_ / name});
    for (const Format& format : formats_) {
      const auto run = analyzer::open_run(format.opened);
      ASSERT_TRUE(run) << format.name << ": " << run.error().message;
      before_.push_back(text_of(**run));
    }
  }

  /// Opens each format with `damage` done to its bytes, so often.
  void attack(std::size_t rounds, const std::function<std::string(std::string, std::size_t round)>& damage) {
    for (std::size_t i = 0; i < formats_.size(); ++i) {
      const std::string good = read_file(formats_[i].damaged);
      for (std::size_t round = 0; round < rounds && !HasFailure(); ++round) {
        const std::string bad = damage(good, round);
        if (bad == good) continue;
        write(formats_[i].damaged, bad);
        EXPECT_FALSE(is_silent(formats_[i], before_[i])) << formats_[i].name << ", round " << round;
      }
      write(formats_[i].damaged, good);
    }
  }

  TemporaryFolder folder_;
  std::vector<Format> formats_;
  std::vector<std::string> before_;
  std::mt19937 random_{20261126};  // fixed: a failure can be repeated
};

TEST_F(DamagedInput, MutationsEndInARunOrASentence) {
  attack(mutations, [this](std::string bytes, std::size_t) {
    for (std::size_t hits = 1 + random_() % 8; hits > 0; --hits)
      bytes[random_() % bytes.size()] = static_cast<char>(random_() % 256);
    return bytes;
  });
}

TEST_F(DamagedInput, SingleBitsOfWhatHasAChecksumAreNeverChangedSilently) {
  attack(mutations, [this](std::string bytes, std::size_t) {
    char& byte = bytes[random_() % bytes.size()];
    byte = static_cast<char>(byte ^ (1 << random_() % 8));
    return bytes;
  });
}

TEST_F(DamagedInput, TruncationsEndInARunOrASentence) {
  attack(truncations, [](const std::string& bytes, std::size_t round) {
    return bytes.substr(0, bytes.size() * round / truncations);
  });
}

}  // namespace
}  // namespace rankscope
