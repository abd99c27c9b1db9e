#include "rankscope/core/digest/digest_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "digest/layout.h"
#include "recording/format/crc32c.h"

namespace rankscope::digest {
namespace {

const Job job{.source = "kineto", .world_size = 4, .name = "train", .recording = ""};

/// Ranks 0 and 1 in one commit, rank 2 in a second one.
std::string two_commits() {
  DigestWriter out{job};
  out.add({1, 1, RankId{0}, "steps of 0"});
  out.add({1, 1, RankId{1}, "steps of rank 1"});
  out.commit();
  out.add({1, 2, RankId{2}, ""});
  out.commit();
  return out.take();
}

std::string message_of(std::string_view bytes) {
  const auto file = read_digest(bytes);
  return file ? "readable" : file.error().message;
}

TEST(DigestFile, ReadsBackAsItWasWritten) {
  const std::string bytes = two_commits();
  EXPECT_TRUE(looks_like_digest(bytes));
  const auto file = read_digest(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->job, job);
  EXPECT_EQ(file->cut_bytes, 0U);
  ASSERT_EQ(file->blocks.size(), 3U);
  EXPECT_EQ(file->blocks[1].rank, RankId{1});
  EXPECT_EQ(file->blocks[1].bytes, "steps of rank 1");
  EXPECT_EQ(file->blocks[2].version, 2);
  EXPECT_EQ(file->blocks[2].bytes, "");
}

TEST(DigestFile, CanBeWrittenPieceByPiece) {
  DigestWriter out{job};
  std::string bytes = out.take();
  out.add({1, 1, RankId{0}, "steps of 0"});
  bytes += out.take();
  out.add({1, 1, RankId{1}, "steps of rank 1"});
  out.commit();
  bytes += out.take();
  out.add({1, 2, RankId{2}, ""});
  out.commit();
  bytes += out.take();
  EXPECT_EQ(bytes, two_commits());
}

TEST(DigestFile, WhatWasCommittedBeforeACutIsReadAndTheRestCounted) {
  const std::string bytes = two_commits();
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const auto file = read_digest(cut);
    if (!file) {
      ++refused;
      continue;
    }
    EXPECT_EQ(file->blocks.size(), 2U) << size << " bytes";
    EXPECT_LE(file->cut_bytes, size);
  }
  EXPECT_GT(refused, 100) << "before the first commit nothing is complete";
  EXPECT_LT(refused, static_cast<int>(bytes.size()) - 50);
  const auto file = read_digest(std::string_view{bytes}.substr(0, bytes.size() - 1));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->cut_bytes, 79U) << "the block of rank 2 and all but one byte of its commit";
}

TEST(DigestFile, ZerosBehindTheLastCommitAreWhereAWriterDied) {
  const std::string bytes = two_commits() + std::string(100, '\0');
  const auto file = read_digest(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->blocks.size(), 3U);
  EXPECT_EQ(file->cut_bytes, 100U);
}

TEST(DigestFile, NoFlippedBitGoesUnnoticed) {
  const std::string good = two_commits();
  const auto whole = read_digest(good);
  ASSERT_TRUE(whole) << whole.error().message;
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[byte] = static_cast<char>(static_cast<unsigned char>(bad[byte]) ^ (1U << bit));
      const auto file = read_digest(bad);
      if (!file) continue;
      // What is still read is as it was written; padding carries nothing, and a broken last commit is a cut.
      EXPECT_EQ(file->job, whole->job);
      EXPECT_TRUE(file->cut_bytes > 0 || file->blocks.size() == 3) << byte;
      for (std::size_t row = 0; row < file->blocks.size(); ++row) {
        EXPECT_EQ(file->blocks[row].bytes, whole->blocks[row].bytes) << byte;
        EXPECT_EQ(file->blocks[row].rank, whole->blocks[row].rank) << byte;
      }
    }
  }
}

TEST(DigestFile, BlocksThatAreLeftOutRepeatedOrSwappedAreDamage) {
  DigestWriter out{job};
  const std::size_t head = out.take().size();
  out.add({1, 1, RankId{0}, "12345678"});
  out.add({1, 1, RankId{1}, "12345678"});
  out.commit();
  const std::string bytes = DigestWriter{job}.take() + out.take();
  constexpr std::size_t block = 40;
  const std::string before = bytes.substr(0, head);
  const std::string first = bytes.substr(head, block);
  const std::string second = bytes.substr(head + block, block);
  const std::string commit = bytes.substr(head + 2 * block);
  EXPECT_EQ(message_of(before + first + second + commit), "readable");
  EXPECT_NE(message_of(before + second + commit).find("is damaged"), std::string::npos);
  EXPECT_NE(message_of(before + second + first + commit).find("is damaged"), std::string::npos);
  EXPECT_NE(message_of(before + first + first + commit).find("is damaged"), std::string::npos);
  EXPECT_NE(message_of(before + first + first + second + commit).find("is damaged"), std::string::npos);
  EXPECT_NE(message_of(before + first + second + commit + first + second + commit).find("is damaged"),
            std::string::npos);
}

TEST(DigestFile, ARankThatHasAPartTwiceIsRefused) {
  DigestWriter out{job};
  out.add({1, 1, RankId{7}, "one"});
  out.commit();
  out.add({1, 1, RankId{7}, "another"});
  out.commit();
  EXPECT_EQ(message_of(out.take()), "it contains part 1 of rank 7 twice; write the digest again");
}

/// The bytes with a structure in them changed, and its checksum put right.
template <class Structure>
std::string with(std::string bytes, std::size_t offset, void (*change)(Structure& structure)) {
  Structure structure;
  std::memcpy(&structure, bytes.data() + offset, sizeof structure);
  change(structure);
  structure.header_crc = recording::crc32c(&structure, offsetof(Structure, header_crc));
  std::memcpy(bytes.data() + offset, &structure, sizeof structure);
  return bytes;
}

TEST(DigestFile, ANewerMajorVersionIsRefusedAndANewerMinorOneRead) {
  const std::string bytes = two_commits();
  EXPECT_EQ(message_of(with<FileHeader>(bytes, 0, [](FileHeader& header) { header.major = 2; })),
            "it was written by a newer version of rankscope (digest format 2.0, this one reads 1.x); update rankscope");
  const std::string minor = with<FileHeader>(bytes, 0, [](FileHeader& header) { header.minor = 9; });
  const auto file = read_digest(minor);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->minor, 9);
}

TEST(DigestFile, APartThatIsDividedNeedsANewerVersion) {
  const std::size_t first_block = DigestWriter{job}.take().size();
  const std::string bytes =
      with<BlockHeader>(two_commits(), first_block, [](BlockHeader& header) { header.piece = 1; });
  EXPECT_NE(message_of(bytes).find("a part is divided"), std::string::npos);
}

TEST(DigestFile, OtherFilesAreNoDigests) {
  EXPECT_EQ(message_of(""), "it is not a digest");
  EXPECT_EQ(message_of("{\"schemaVersion\": 1}"), "it is not a digest");
  EXPECT_EQ(message_of("RSDIGST\n"), "the file is cut off: it ends inside its header; write the digest again");
  EXPECT_EQ(message_of(DigestWriter{job}.take()),
            "the file is cut off: nothing in it is complete; write the digest again");
}

}  // namespace
}  // namespace rankscope::digest
