#include "rankscope/trainer/checkpoint/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "rankscope/trainer/checkpoint/safetensors.h"
#include "support/temporary_folder.h"
#include "trainer/checkpoint/trained_state.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using rankscope::testing::read_file;
using rankscope::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator{folder}) names.insert(entry.path().filename().string());
  return names;
}

std::uint64_t size_in(const fs::path& folder, const char* name) { return fs::file_size(folder / name); }

TEST(Saving, LeavesAFolderOfTheStepAndLatest) {
  const TemporaryFolder folder;
  const auto results = save({folder.path()}, state_of(1), 120, 2);
  for (const auto& saved : results) {
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(saved->folder, folder / "step-00000120");
    EXPECT_EQ(saved->bytes,
              size_in(saved->folder, "rank-00000.safetensors") + size_in(saved->folder, "rank-00001.safetensors"));
    EXPECT_EQ(saved->warning, "");
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("latest", "step-00000120"));
  EXPECT_THAT(names_in(folder / "step-00000120"),
              ElementsAre("manifest.json", "rank-00000.safetensors", "rank-00001.safetensors"));
  EXPECT_EQ(read_file(folder / "latest"), "step-00000120\n");
}

TEST(Saving, KeepsWhatItWasTold) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 9, 4).front());
  const auto checkpoint = Checkpoint::open(folder.path()).value();
  EXPECT_EQ(checkpoint.manifest().facts, facts_of(9, 4));
  EXPECT_EQ(checkpoint.manifest().tensors.size(), state_of(1).size());
  EXPECT_THAT(checkpoint.manifest().created_by, HasSubstr("rankscope "));
}

TEST(Saving, TensorsInAFileBeginWhereTheirTypeWantsIt) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 1, 3).front());
  for (const char* name : {"rank-00000.safetensors", "rank-00001.safetensors", "rank-00002.safetensors"}) {
    const auto header = read_safetensors_header(folder / "step-00000001" / name).value();
    for (const StoredTensor& tensor : header.tensors)
      EXPECT_EQ((header.data_begin + tensor.begin) % static_cast<std::uint64_t>(bytes_of(tensor.info.type)), 0u)
          << tensor.info.name;
  }
}

TEST(Saving, ARankThatHoldsNothingWritesNoFile) {
  const TemporaryFolder folder;
  const State state{tensor_of({"w", ElementType::f32, {1}}, 1)};
  ASSERT_TRUE(save({folder.path()}, state, 1, 3).front());
  EXPECT_THAT(names_in(folder / "step-00000001"), ElementsAre("manifest.json", "rank-00000.safetensors"));
}

TEST(Saving, KeepsAsManyAsAskedFor) {
  const TemporaryFolder folder;
  for (const std::int64_t step : {10, 20, 30, 40}) ASSERT_TRUE(save({folder.path(), 2}, state_of(1), step).front());
  EXPECT_THAT(saved_steps(folder.path()), ElementsAre(30, 40));
  ASSERT_TRUE(save({folder.path(), 1}, state_of(1), 50).front());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("latest", "step-00000050"));
}

TEST(Saving, CheckpointsOfLaterStepsAreNotItsOwn) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path(), 1}, state_of(1), 100).front());
  ASSERT_TRUE(save({folder.path(), 1}, state_of(2), 60).front());  // went on from an earlier one
  EXPECT_THAT(saved_steps(folder.path()), ElementsAre(60, 100));
  EXPECT_EQ(Checkpoint::open(folder.path()).value().manifest().facts.step, 60);
}

TEST(Saving, TheCheckpointThatIsBeingReadStaysUntilItIsClosed) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path(), 1}, state_of(1), 10).front());
  {
    auto reading = Checkpoint::open(folder.path()).value();
    ASSERT_TRUE(save({folder.path(), 1}, state_of(2), 20).front());
    EXPECT_THAT(saved_steps(folder.path()), ElementsAre(10, 20));
    EXPECT_TRUE(equal(loaded(reading, state_of(1)), state_of(1)));
  }
  ASSERT_TRUE(save({folder.path(), 1}, state_of(3), 30).front());
  EXPECT_THAT(saved_steps(folder.path()), ElementsAre(30));
}

TEST(Saving, TheSameStepAgainTakesThePlaceOfTheFirst) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 10, 4).front());
  auto first = Checkpoint::open(folder.path()).value();
  ASSERT_TRUE(save({folder.path()}, state_of(2), 10, 2).front());
  EXPECT_TRUE(equal(loaded(first, state_of(1)), state_of(1))) << "what was open stays what it was";
  auto second = Checkpoint::open(folder.path()).value();
  EXPECT_TRUE(equal(loaded(second, state_of(2)), state_of(2)));
}

TEST(Saving, FoldersOfOthersAreLeftAlone) {
  const TemporaryFolder folder;
  const std::vector<std::string> others{"step-1", "step-00000001.bak", "step-0000000x", "notes", "step--0000001"};
  for (const std::string& name : others) fs::create_directory(folder / name);
  ASSERT_TRUE(save({folder.path(), 1}, state_of(1), 10).front());
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder / name)) << name;
}

TEST(Saving, AFolderThatCannotBeMadeIsSaidByAllRanks) {
  const TemporaryFolder folder;
  std::ofstream{folder / "file"} << "x";
  for (const auto& saved : save({folder / "file"}, state_of(1), 10, 3)) {
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().kind, ErrorKind::cannot_write);
    EXPECT_THAT(saved.error().message, HasSubstr((folder / "file" / "step-00000010.tmp").string()));
    EXPECT_THAT(saved.error().message, HasSubstr("rank 0: "));
  }
}

TEST(Saving, ARankThatCannotWriteIsSaidByAllAndNothingIsLeft) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 10, 2).front());
  SaveOptions options{folder.path()};
  options.at_stage = [&](std::string_view stage) {
    if (stage == "folder made") fs::create_directory(folder / "step-00000020.tmp" / "rank-00001.safetensors.tmp");
  };
  for (const auto& saved : save(options, state_of(2), 20, 2)) {
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, HasSubstr("rank 1: cannot write "));
    EXPECT_THAT(saved.error().message, HasSubstr("step-00000020.tmp/rank-00001.safetensors ("));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("latest", "step-00000010"));
  EXPECT_TRUE(save({folder.path()}, state_of(2), 20, 2).front()) << "training goes on, the next one is whole";
}

TEST(Saving, AStateWithElementsOfNobodyIsNoCheckpoint) {
  const TemporaryFolder folder;
  const State state = state_of(1);
  const auto results = save_slices({folder.path()}, 10, 2, [&](int) { return slices_of(state, Held::sharded, 0, 2); });
  for (const auto& saved : results) {
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, HasSubstr("is stored twice"));
  }
  const auto half = save_slices({folder.path()}, 10, 1, [&](int) { return slices_of(state, Held::sharded, 0, 2); });
  EXPECT_THAT(half.front().error().message, HasSubstr("no rank wrote "));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(Saving, RanksThatHoldDifferentModelsAreToldApart) {
  const TemporaryFolder folder;
  const State one{tensor_of({"w", ElementType::f32, {4, 2}}, 1)};
  const State other{tensor_of({"w", ElementType::f32, {2, 4}}, 1)};
  const auto results = save_slices(
      {folder.path()}, 10, 2, [&](int rank) { return slices_of(rank == 0 ? one : other, Held::sharded, rank, 2); });
  EXPECT_THAT(results.front().error().message, HasSubstr("w has a different type or shape on rank 1"));
}

TEST(Saving, AFailedExchangeIsTheErrorOfTheSaving) {
  const TemporaryFolder folder;
  int calls = 0;
  const Exchange broken = [&calls](const std::string& mine) -> Result<std::vector<std::string>> {
    if (++calls == 2) return fail(ErrorKind::cannot_write, "rank 1 has gone");
    return std::vector<std::string>{mine, "{}"};
  };
  const State state = state_of(1);
  const auto saved =
      save_checkpoint({folder.path()}, {0, 2, broken}, facts_of(10, 2), slices_of(state, Held::replicated, 0, 2));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().message, "rank 1 has gone");
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

}  // namespace
}  // namespace rankscope::trainer
