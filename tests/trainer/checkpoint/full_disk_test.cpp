#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/file_size_limit.h"
#include "support/temporary_folder.h"
#include "trainer/checkpoint/trained_state.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using rankscope::testing::FileSizeLimit;
using rankscope::testing::TemporaryFolder;
using ::testing::HasSubstr;

Result<SavedCheckpoint> save_on_full_disk(const fs::path& folder, const State& state, std::uint64_t room) {
  const FileSizeLimit limit{room};
  return save({folder}, state, 20).front();
}

TEST(FullDisk, IsOneSentenceWithPathAndBytesAndNothingIsLost) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 10).front());
  const std::uint64_t file_bytes = fs::file_size(folder / "step-00000010" / "rank-00000.safetensors");
  const auto saved = save_on_full_disk(folder.path(), state_of(2), 1000);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::cannot_write);
  EXPECT_EQ(saved.error().message, "cannot write " +
                                       (folder / "step-00000020.tmp" / "rank-00000.safetensors").string() + " (" +
                                       std::to_string(file_bytes) +
                                       " bytes): File too large; free some space, keep fewer checkpoints, or choose "
                                       "another folder; earlier checkpoints are unchanged");
  EXPECT_EQ(folder.file_count(), 2u) << "what was written in part is removed";
  auto checkpoint = Checkpoint::open(folder.path()).value();
  EXPECT_TRUE(equal(loaded(checkpoint, state_of(1)), state_of(1)));
  ASSERT_TRUE(save({folder.path()}, state_of(2), 20).front()) << "with room again, training has a checkpoint again";
}

TEST(FullDisk, AtWhateverByteLeavesOneThatCanBeLoaded) {
  const TemporaryFolder folder;
  // Many tensors: the manifest is longer than the file of the rank, so that each of the two is hit.
  State before{tensor_of({"w", ElementType::f32, {4}}, 1)};
  for (int i = 0; i < 4; ++i) before.push_back(tensor_of({"none" + std::to_string(i), ElementType::f32, {0}}, 1));
  ASSERT_TRUE(save({folder.path()}, before, 10).front());
  const std::uint64_t most = fs::file_size(folder / "step-00000010" / "manifest.json");
  ASSERT_GT(most, fs::file_size(folder / "step-00000010" / "rank-00000.safetensors"));
  bool manifest_was_hit = false;
  for (std::uint64_t room = 0; room < most; room += 7) {
    const auto saved = save_on_full_disk(folder.path(), before, room);
    ASSERT_FALSE(saved) << room;
    manifest_was_hit |= saved.error().message.find("manifest.json (") != std::string::npos;
    EXPECT_EQ(folder.file_count(), 2u) << room;
    auto checkpoint = Checkpoint::open(folder.path());
    ASSERT_TRUE(checkpoint) << room;
    EXPECT_EQ(checkpoint->manifest().facts.step, 10);
    EXPECT_TRUE(equal(loaded(*checkpoint, before), before));
  }
  EXPECT_TRUE(manifest_was_hit);
}

TEST(FullDisk, WhenOnlyLatestDoesNotFitTheNewOneIsStillWhole) {
  const TemporaryFolder folder;
  ASSERT_TRUE(save({folder.path()}, state_of(1), 10).front());
  SaveOptions options{folder.path()};
  std::optional<FileSizeLimit> limit;
  options.at_stage = [&limit](std::string_view stage) {
    if (stage == "in place for good") limit.emplace(5);
  };
  const auto saved = save(options, state_of(2), 20).front();
  limit.reset();
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("/latest (14 bytes): File too large"));
  EXPECT_EQ(Checkpoint::open(folder.path()).value().manifest().facts.step, 10);
  auto named = Checkpoint::open(folder.path(), 20).value();
  EXPECT_TRUE(equal(loaded(named, state_of(2)), state_of(2)));
}

}  // namespace
}  // namespace rankscope::trainer
