// What a gathered recording holds beside its events has checksums, too: no bit of it changes silently.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recording/format/crc32c.h"
#include "recording/format/segment_file.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using rankscope::testing::read_file;
using rankscope::testing::TemporaryFolder;
using ::testing::HasSubstr;

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

std::string with_flipped_bit(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

/// In place: a file that is written anew thousands of times waits for the disk.
void write_byte(const fs::path& path, std::size_t place, char byte) {
  std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
  file.seekp(static_cast<std::streamoff>(place));
  file.put(byte);
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

/// A gathered recording of a process that exited with status 3.
class Sealed : public ::testing::Test {
 protected:
  Sealed() {
    {
      auto segment = *SegmentWriter::create(
          {.path = folder_ / "live", .ring_kib = 1024, .rank = 0, .world_size = 1, .rank_source = "RANK"});
      segment->thread()->mark("here");
      segment->note_exit(3);
    }
    fs::create_directories(segment_.parent_path());
    EXPECT_TRUE(gather_segment(folder_ / "live", segment_));
    Manifest manifest;
    manifest.command = {"train"};
    manifest.world_size = 1;
    manifest.exit_status = 3;
    manifest.losses = {{"processes_not_recorded", 2}};
    EXPECT_TRUE(write_manifest(recording_, manifest));
  }

  [[nodiscard]] std::shared_ptr<const rankscope::Run> read() const {
    auto run = read_recording(recording_);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }

  TemporaryFolder folder_;
  fs::path recording_ = folder_ / "run.rankscope";
  fs::path segment_ = recording_ / segment_folder / "a.rseg";
};

TEST_F(Sealed, NoBitOfTheManifestChangesSilently) {
  const std::string good = read_file(recording_ / manifest_name);
  ASSERT_TRUE(read_manifest(recording_));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    write(recording_ / manifest_name, with_flipped_bit(good, bit));
    const auto changed = read_manifest(recording_);
    // How a newer major version computes its checksum is not known: its recordings are refused for their version.
    ASSERT_TRUE(!changed || changed->major > format_major) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST_F(Sealed, ADamagedManifestIsNamedAndItsFactsAreNotBelieved) {
  std::string text = read_file(recording_ / manifest_name);
  const std::string before = "\"exit_status\": 3";
  text.replace(text.find(before), before.size(), "\"exit_status\": 0");
  write(recording_ / manifest_name, text);
  const auto run = read();
  EXPECT_EQ(run->quality().of(Counter::manifest_damaged), 1U);
  EXPECT_EQ(run->quality().of(Counter::processes_not_recorded), 0U);
  ASSERT_EQ(run->info().places.size(), 1U);
  EXPECT_THAT(run->info().places.front().where, HasSubstr((recording_ / manifest_name).string()));
  EXPECT_EQ(run->metadata("exit_status"), "");
}

TEST_F(Sealed, AManifestWithoutItsChecksumIsDamagedUnlessItIsOlder) {
  std::string text = read_file(recording_ / manifest_name);
  text.resize(text.find(",\n  \"crc32c\""));
  write(recording_ / manifest_name, text + "\n}\n");
  EXPECT_THAT(read_manifest(recording_).error().message, HasSubstr("does not match its checksum"));
  const std::string minor = format("\"minor\": {}", format_minor);
  text.replace(text.find(minor), minor.size(), "\"minor\": 3");
  write(recording_ / manifest_name, text + "\n}\n");
  EXPECT_TRUE(read_manifest(recording_));
}

TEST_F(Sealed, AManifestOfANewerMajorVersionIsRefusedForThatAndNotAsDamaged) {
  std::string text = read_file(recording_ / manifest_name);
  const std::string major = format("\"major\": {}", format_major);
  text.replace(text.find(major), major.size(), format("\"major\": {}", format_major + 1));
  write(recording_ / manifest_name, text);
  const auto run = read_recording(recording_);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("newer rankscope"));
}

TEST_F(Sealed, NoBitOfAHeaderChangesSilently) {
  const std::string good = read_file(segment_);
  for (std::size_t byte = 0; byte < segment_header_bytes; byte += byte < sizeof(SegmentHeader) ? 1 : 61) {
    for (std::size_t bit = byte * 8; bit < byte * 8 + 8; ++bit) {
      write_byte(segment_, byte, static_cast<char>(good[byte] ^ (1 << bit % 8)));
      const auto segment = read_segment(segment_);
      ASSERT_TRUE(!segment || segment->header_is_damaged()) << "bit " << bit % 8 << " of byte " << byte;
    }
    write_byte(segment_, byte, good[byte]);
  }
}

TEST_F(Sealed, BehindADamagedHeaderTheEventsAreReadAndTheEndingIsUnknown) {
  ASSERT_EQ(read()->processes()[0].ending, Ending::exited);
  const std::string good = read_file(segment_);
  write(segment_, with_flipped_bit(good, offsetof(SegmentHeader, exit_status) * 8));
  const auto run = read();
  EXPECT_EQ(run->marks().size(), 1U);
  EXPECT_EQ(run->quality().of(Counter::header_damaged), 1U);
  EXPECT_EQ(run->processes()[0].ending, Ending::unknown);
}

TEST_F(Sealed, WhatIsGatheredAgainStaysDamaged) {
  write(segment_, with_flipped_bit(read_file(segment_), offsetof(SegmentHeader, packed_chunks) * 8));
  ASSERT_TRUE(gather_segment(segment_, folder_ / "again.rseg"));
  const auto again = read_segment(folder_ / "again.rseg");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->header_is_damaged());
  EXPECT_EQ(again->chunks.size(), 1U);
}

TEST_F(Sealed, ADamagedChunkStaysDamagedAndIsNotTakenForACutFile) {
  std::string bytes = read_file(segment_);
  bytes[segment_header_bytes + chunk_header_bytes] ^= 1;
  write(segment_, bytes);
  for (int times = 0; times < 3; ++times) {
    const auto again = read_segment(segment_);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->quality.of(Counter::chunks_corrupt), 1U) << times;
    EXPECT_EQ(again->quality.of(Counter::segment_cut), 0U) << times;
    ASSERT_TRUE(gather_segment(segment_, segment_));
  }
}

TEST_F(Sealed, AChunkThatClaimsToBeOpenIsDamaged) {
  std::string bytes = read_file(segment_);
  bytes[segment_header_bytes + offsetof(ChunkHeader, state)] = 0;
  write(segment_, bytes);
  EXPECT_EQ(read_segment(segment_)->quality.of(Counter::chunks_corrupt), 1U);
}

TEST_F(Sealed, AGatheredSegmentOfVersion1_3IsReadWithoutChecksum) {
  std::string bytes = read_file(segment_);
  SegmentStatic fixed;
  std::memcpy(static_cast<void*>(&fixed), bytes.data(), sizeof fixed);
  fixed.minor = 3;
  fixed.sealed = 0;
  const std::uint32_t checksum = crc32c(&fixed, sizeof fixed);
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  std::memcpy(bytes.data() + offsetof(SegmentHeader, static_crc), &checksum, sizeof checksum);
  std::memset(bytes.data() + offsetof(SegmentHeader, page_crc), 0, sizeof checksum);
  write(segment_, bytes);
  const auto run = read();
  EXPECT_EQ(run->quality().of(Counter::header_damaged), 0U);
  EXPECT_EQ(run->processes()[0].ending, Ending::exited);
}

}  // namespace
}  // namespace rankscope::recording
