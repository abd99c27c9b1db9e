// Dumps of real jobs that hung: exactly the faulty ranks are named, whatever happens to the files.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "importers/flight_recorder/pickle.h"
#include "importers/shared/comm_progress.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using analyzer::HangCertainty;
using analyzer::HangKind;
using analyzer::HangReport;
using nlohmann::json;
using Ranks = std::set<std::uint32_t>;

/// A set of dumps and who is faulty in it (fault_injection.log), with the group and the operation of each.
struct HungJob {
  std::string folder;
  std::map<std::uint32_t, std::string> faulty;  // rank -> group
};
const HungJob gpu_error{"gpu_error_2nd", {{9, "72"}, {14, "72"}}};
const HungJob lock_gil{"lock_gil_2nd", {{10, "73"}, {15, "74"}}};

constexpr std::uint32_t world = 16;

fs::path folder_of(const HungJob& job) { return testing::shared_data() / "flight_recorder" / job.folder; }
fs::path dump_of(const HungJob& job, std::uint32_t rank) { return folder_of(job) / format("_dump_{}", rank); }

HangReport judged(const fs::path& folder) {
  auto report = analyzer::judge_dumps(std::span{&folder, 1}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : HangReport{};
}

/// Ranks of the roots that are no guesses.
Ranks certain_ranks(const HangReport& report) {
  Ranks ranks;
  for (const analyzer::HangRoot& root : report.roots)
    if (root.certainty != HangCertainty::guess)
      for (const RankId rank : root.ranks) ranks.insert(rank.value);
  return ranks;
}

Ranks guessed_ranks(const HangReport& report) {
  Ranks ranks;
  for (const analyzer::HangRoot& root : report.roots) {
    if (root.certainty != HangCertainty::guess) continue;
    EXPECT_EQ(root.kind, HangKind::no_dump);
    for (const RankId rank : root.ranks) ranks.insert(rank.value);
  }
  return ranks;
}

Ranks faulty_of(const HungJob& job, const Ranks& without = {}) {
  Ranks ranks;
  for (const auto& [rank, group] : job.faulty)
    if (!without.contains(rank)) ranks.insert(rank);
  return ranks;
}

void expect_faulty(const HungJob& job, const HangReport& report) {
  EXPECT_EQ(report.verdict, analyzer::HangVerdict::hang);
  EXPECT_EQ(certain_ranks(report), faulty_of(job));
  EXPECT_TRUE(guessed_ranks(report).empty());
  for (const analyzer::HangRoot& root : report.roots)
    for (const RankId rank : root.ranks) {
      ASSERT_TRUE(root.operation);
      EXPECT_EQ(root.operation->op, "all_to_all");
      EXPECT_EQ(root.operation->group.name, job.faulty.at(rank.value));
      EXPECT_EQ(root.operation->group.description, "EXPERT_MODEL_PARALLEL_GROUP");
    }
}

class HungJobs : public ::testing::TestWithParam<HungJob> {
 protected:
  void SetUp() override {
    if (testing::shared_data().empty() || !fs::exists(folder_of(GetParam()))) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(HungJobs, AreBlamedOnExactlyTheFaultyRanks) {
  const HangReport report = judged(folder_of(GetParam()));
  expect_faulty(GetParam(), report);
  EXPECT_EQ(report.inputs, world);
  EXPECT_EQ(report.world_size, world);
  EXPECT_TRUE(report.losses.empty()) << "the logs beside the dumps are no dumps";
}

TEST_P(HungJobs, FilesMayHaveOtherNamesAndEvenThoseOfOtherRanks) {
  const testing::TemporaryFolder named;
  const testing::TemporaryFolder shuffled;
  const testing::TemporaryFolder without_numbers;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    fs::copy_file(dump_of(GetParam(), rank), named / format("nccl_trace_rank_{}", rank));
    fs::copy_file(dump_of(GetParam(), rank), shuffled / format("_dump_{}", (rank * 7 + 3) % world));
    fs::copy_file(dump_of(GetParam(), rank), without_numbers / std::string(1, static_cast<char>('a' + rank)));
  }
  expect_faulty(GetParam(), judged(named.path()));
  const HangReport report = judged(shuffled.path());
  expect_faulty(GetParam(), report);
  EXPECT_FALSE(report.losses.empty()) << "names that contradict the content are reported";
  expect_faulty(GetParam(), judged(without_numbers.path()));
}

json json_from(const analyzer::PlainValues& values, analyzer::ValueRef value) {
  const auto items = values.items_of(value);
  if (values.is_text(value)) return values.text_of(value);
  if (values.is_map(value)) {
    json out = json::object();
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
      out[std::string{values.text_of(items[i])}] = json_from(values, items[i + 1]);
    return out;
  }
  if (values.is_list(value)) {
    json out = json::array();
    for (const analyzer::ValueRef item : items) out.push_back(json_from(values, item));
    return out;
  }
  const auto number = values.number_of(value);
  return number ? json(*number) : json(nullptr);
}

/// The dump as JSON, with other numbers for the ranks.
json renumbered(const HungJob& job, std::uint32_t rank, const std::vector<std::uint32_t>& number) {
  const std::string bytes = testing::read_file(dump_of(job, rank));
  analyzer::PlainValues values;
  json dump = json_from(values, *analyzer::flight_recorder::read_pickle(bytes, values));
  for (auto& [name, group] : dump["pg_config"].items()) {
    std::string ranks;
    const auto members = analyzer::members_from(group["ranks"].get<std::string>());
    for (const std::uint32_t member : members.value())
      ranks += format("{}{}", ranks.empty() ? "[" : ", ", number[member]);
    group["ranks"] = ranks + "]";
  }
  return dump;
}

TEST_P(HungJobs, RanksMayHaveOtherNumbers) {
  std::vector<std::uint32_t> number(world);
  std::iota(number.begin(), number.end(), 0U);
  std::mt19937 random{7};
  for (int round = 0; round < 4; ++round) {
    const testing::TemporaryFolder folder;
    for (std::uint32_t rank = 0; rank < world; ++rank)
      std::ofstream{folder / format("dump_{}.json", number[rank])} << renumbered(GetParam(), rank, number).dump();
    HungJob other = GetParam();
    other.faulty.clear();
    for (const auto& [rank, group] : GetParam().faulty) other.faulty[number[rank]] = group;
    expect_faulty(other, judged(folder.path()));
    std::ranges::shuffle(number, random);
  }
}

TEST_P(HungJobs, WithoutSomeDumpsTheFaultyRanksStayAndTheOthersAreGuesses) {
  std::mt19937 random{3};
  for (int round = 0; round < 60; ++round) {
    Ranks removed;
    if (round < static_cast<int>(world)) {
      removed.insert(static_cast<std::uint32_t>(round));
    } else {
      while (removed.size() < 2) removed.insert(static_cast<std::uint32_t>(random() % world));
    }
    const testing::TemporaryFolder folder;
    for (std::uint32_t rank = 0; rank < world; ++rank)
      if (!removed.contains(rank)) fs::copy_file(dump_of(GetParam(), rank), folder / format("_dump_{}", rank));
    const HangReport report = judged(folder.path());
    const auto named = [&] { return ::testing::PrintToString(removed); };
    EXPECT_EQ(certain_ranks(report), faulty_of(GetParam(), removed)) << named();
    EXPECT_TRUE(std::ranges::includes(removed, guessed_ranks(report))) << named();
  }
}

TEST_P(HungJobs, ACutDumpIsCountedAndBlamesNobodyElse) {
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    const std::string whole = testing::read_file(dump_of(GetParam(), rank));
    for (std::size_t place = 0; place < 20; ++place) {
      const testing::TemporaryFolder folder;
      for (std::uint32_t other = 0; other < world; ++other)
        if (other != rank) fs::create_symlink(dump_of(GetParam(), other), folder / format("_dump_{}", other));
      std::ofstream{folder / format("_dump_{}", rank), std::ios::binary} << whole.substr(0, whole.size() * place / 20);
      const HangReport report = judged(folder.path());
      const auto where = format("rank {} cut at {} of 20", rank, place);
      Ranks allowed = faulty_of(GetParam());
      allowed.insert(rank);
      EXPECT_TRUE(std::ranges::includes(allowed, certain_ranks(report))) << where;
      EXPECT_TRUE(std::ranges::includes(allowed, guessed_ranks(report))) << where;
      ASSERT_EQ(report.losses.size(), 1U) << where;
      EXPECT_EQ(report.losses[0].counter, place == 0 ? "dumps_empty" : "dumps_cut") << where;
      EXPECT_EQ(report.losses[0].where, format("_dump_{}", rank)) << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, HungJobs, ::testing::Values(gpu_error, lock_gil),
                         [](const auto& job) { return job.param.folder; });

}  // namespace
}  // namespace rankscope
