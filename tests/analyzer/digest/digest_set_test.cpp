#include "digest/digest_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

std::string digest_of_ranks(std::string_view head, std::uint32_t first, std::uint32_t end) {
  std::string text = format("{}\n", head);
  for (std::uint32_t rank = first; rank < end; ++rank)
    text += format(
        "@rank {0} pid={0} host=n0 recorded=0:200\n@lane {0} main kind=thread number=1\n"
        "@lane {0} s7 kind=stream number=7 device=0\n"
        "{0} step 0 90 step index=0 lane=main\n{0} step 100 190 step index=1 lane=main\n"
        "{0} compute 10 60 gemm lane=s7\n{0} memory 70 80 \"Memcpy HtoD (Pinned -> Device)\" bytes=8 lane=s7\n"
        "{0} runtime 20 40 cudaDeviceSynchronize lane=main\n",
        rank);
  const auto run = run_of(text);
  digest::DigestWriter out{job_of(*run)};
  Digester digester{*run};
  for (std::size_t row = 0; row < run->ranks().size(); ++row) {
    write_digest(digester.of(row), out);
    out.commit();
  }
  return out.take();
}

constexpr std::string_view of_four = "@run source=kineto world_size=4";

TEST(DigestSet, HasTheRanksOfAllFilesInTheirOrder) {
  DigestSet set;
  ASSERT_TRUE(set.add("b.rsd", digest_of_ranks(of_four, 2, 4)));
  ASSERT_TRUE(set.add("a.rsd", digest_of_ranks(of_four, 0, 2)));
  ASSERT_EQ(set.ranks().size(), 4U);
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(set.ranks()[rank].rank, RankId{rank});
  EXPECT_TRUE(set.losses().empty());
}

TEST(DigestSet, RefusesARankThatIsThereAlready) {
  DigestSet set;
  ASSERT_TRUE(set.add("a.rsd", digest_of_ranks(of_four, 0, 2)));
  const auto added = set.add("copy of a.rsd", digest_of_ranks(of_four, 1, 3));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "a.rsd and copy of a.rsd both contain rank 1; open only one of them");
  EXPECT_EQ(set.ranks().size(), 2U) << "rank 2 is not added either";
}

TEST(DigestSet, RefusesAnotherJob) {
  const auto why_not = [](std::string_view head) {
    DigestSet set;
    EXPECT_TRUE(set.add("a.rsd", digest_of_ranks(of_four, 0, 1)));
    const auto added = set.add("b.rsd", digest_of_ranks(head, 1, 2));
    return added ? std::string{} : added.error().message;
  };
  EXPECT_EQ(why_not(of_four), "");
  EXPECT_EQ(why_not("@run source=kineto world_size=8"),
            "a.rsd and b.rsd are from different jobs: one job has 4 ranks, the other 8 ranks; open the digests of one "
            "job");
  EXPECT_EQ(why_not("@run source=kineto"),
            "a.rsd and b.rsd are from different jobs: one job has 4 ranks, the other an unknown number of ranks; open "
            "the digests of one job");
  EXPECT_EQ(why_not("@run source=nsys world_size=4"),
            "a.rsd and b.rsd are from different jobs: one comes from kineto, the other from nsys; open the digests of "
            "one job");
}

TEST(DigestSet, RefusesRecordingsThatBeganAtOtherTimes) {
  DigestSet set;
  ASSERT_TRUE(set.add("a.rsd", digest_of_ranks("@run origin_unix=1000", 0, 1)));
  const auto added = set.add("b.rsd", digest_of_ranks("@run origin_unix=2000", 1, 2));
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("they come from different recordings"), std::string::npos);
}

TEST(DigestSet, CountsAFileThatWasCut) {
  DigestSet set;
  const std::string bytes = digest_of_ranks(of_four, 0, 2);
  ASSERT_TRUE(set.add("a.rsd", std::string_view{bytes}.substr(0, bytes.size() - 10)));
  EXPECT_EQ(set.ranks().size(), 1U);
  ASSERT_EQ(set.losses().size(), 1U);
  EXPECT_EQ(set.losses()[0].counter, Counter::truncated_input);
  EXPECT_EQ(set.losses()[0].where, "a.rsd");
}

TEST(DigestSet, NamesTheFileThatIsNoDigest) {
  DigestSet set;
  const auto added = set.add("trace.json", "{}");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "trace.json: it is not a digest");
}

/// Whatever bytes stand in a part behind correct checksums: an error, or numbers that do not contradict each other.
TEST(DigestSet, DamagedPartsNeverCrash) {
  const std::string good = digest_of_ranks(of_four, 0, 1);
  const auto file = digest::read_digest(good);
  ASSERT_TRUE(file);
  std::mt19937 random{20261127};  // fixed: a failure can be repeated
  const auto below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random);
  };
  int readable = 0;
  for (int round = 0; round < 2'000; ++round) {
    digest::DigestWriter out{file->job};
    const std::size_t damaged = below(file->blocks.size());
    for (std::size_t row = 0; row < file->blocks.size(); ++row) {
      digest::Block block = file->blocks[row];
      std::string bytes{block.bytes};
      if (row == damaged) bytes[below(bytes.size())] = static_cast<char>(below(256));
      block.bytes = bytes;
      out.add(block);
    }
    out.commit();
    DigestSet set;
    const auto added = set.add("a.rsd", out.take());
    if (added)
      ++readable;
    else
      EXPECT_FALSE(added.error().message.empty());
  }
  EXPECT_GT(readable, 10);
  EXPECT_LT(readable, 1'900);
}

}  // namespace
}  // namespace rankscope::analyzer
