#include "rankscope/trainer/checkpoint/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

std::string message_of(const auto& result) { return result ? "no error" : result.error().message; }

/// Checkpoints of steps 10 and 20, each of two ranks.
void save_two(const TemporaryFolder& folder) {
  for (const std::int64_t step : {10, 20})
    ASSERT_TRUE(save({folder.path()}, state_of(static_cast<std::uint64_t>(step)), step, 2).front());
}

TEST(Loading, FromOtherNumbersOfRanksIsBitEqual) {
  const TemporaryFolder folder;
  const State state = state_of(7);
  std::int64_t step = 0;
  State carried = state;
  for (const Held held : {Held::replicated, Held::sharded})
    for (const int world : {4, 2, 3, 1, 4}) {
      ASSERT_TRUE(save({folder.path()}, carried, ++step, world, held).front());
      auto checkpoint = Checkpoint::open(folder.path()).value();
      for (const int readers : {1, 2, 3, 4, 7}) EXPECT_TRUE(equal(loaded(checkpoint, state, readers), state)) << world;
      carried = loaded(checkpoint, state, world);
    }
}

TEST(Loading, AnyRangeIsPutTogetherFromTheFilesThatHoldIt) {
  const TemporaryFolder folder;
  const State state{tensor_of({"w", ElementType::f32, {5, 4}}, 3)};
  ASSERT_TRUE(save({folder.path()}, state, 1, 3, Held::sharded).front());
  auto checkpoint = Checkpoint::open(folder.path()).value();
  for (std::int64_t begin = 0; begin <= 20; ++begin)
    for (std::int64_t end = begin; end <= 20; ++end) {
      const auto bytes = checkpoint.read("w", {begin, end}).value();
      EXPECT_TRUE(
          std::ranges::equal(bytes, std::span{state[0].bytes}.subspan(static_cast<std::size_t>(4 * begin),
                                                                      static_cast<std::size_t>(4 * (end - begin)))));
    }
  for (const ElementRange range : {ElementRange{0, 21}, {-1, 4}, {5, 4}})
    EXPECT_THAT(message_of(checkpoint.read("w", range)), HasSubstr("but the tensor has 20"));
}

TEST(Loading, TakesTheStepThatIsNamed) {
  const TemporaryFolder folder;
  save_two(folder);
  EXPECT_THAT(saved_steps(folder.path()), ElementsAre(10, 20));
  EXPECT_EQ(Checkpoint::open(folder.path()).value().manifest().facts.step, 20);
  EXPECT_EQ(Checkpoint::open(folder.path(), 10).value().manifest().facts.step, 10);
  EXPECT_EQ(message_of(Checkpoint::open(folder.path(), 15)),
            (folder / "step-00000015").string() +
                " is not a checkpoint: it has no manifest.json; there are checkpoints of steps 10, 20");
}

TEST(Loading, WithoutLatestSaysWhatThereIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of(Checkpoint::open(folder.path())),
            folder.path().string() + ": the latest checkpoint is not known, because the file 'latest' is missing");
  EXPECT_EQ(
      message_of(Checkpoint::open(folder / "absent")),
      (folder / "absent").string() + ": the latest checkpoint is not known, because the file 'latest' is missing");
  EXPECT_THAT(saved_steps(folder / "absent"), IsEmpty());
  ASSERT_TRUE(save({folder.path()}, state_of(1), 10).front());
  fs::remove(folder / "latest");
  EXPECT_EQ(message_of(Checkpoint::open(folder.path())),
            folder.path().string() +
                ": the latest checkpoint is not known, because the file 'latest' is missing; there is a "
                "checkpoint of step 10");
}

TEST(Loading, AHostileLatestLeadsNowhere) {
  const TemporaryFolder folder;
  save_two(folder);
  for (const std::string& name : {std::string{}, std::string{"../step-00000010"}, std::string{"step-00000020.tmp"},
                                  std::string{"step-20"}, std::string{"step-\0", 6}})
    for (const char* end : {"", "\n"}) {
      write(folder / "latest", name + end);
      EXPECT_THAT(message_of(Checkpoint::open(folder.path())), HasSubstr("does not name a checkpoint")) << name;
    }
  write(folder / "latest", std::string(100'000, 's'));
  EXPECT_THAT(message_of(Checkpoint::open(folder.path())), HasSubstr("at most 64 are allowed"));
}

TEST(Loading, ADamagedFileIsNamedBeforeAnythingOfItIsUsed) {
  const TemporaryFolder folder;
  const State state{tensor_of({"w", ElementType::u8, {64}}, 1)};
  ASSERT_TRUE(save({folder.path()}, state, 10, 2, Held::sharded).front());
  const fs::path path = folder / "step-00000010" / "rank-00001.safetensors";
  const std::string whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(path, damaged);
    auto checkpoint = Checkpoint::open(folder.path()).value();
    EXPECT_THAT(message_of(checkpoint.read("w", {0, 64})), HasSubstr(path.string() + " is damaged: its checksum is "));
    EXPECT_TRUE(checkpoint.read("w", {0, 32})) << "the other file is sound";
    EXPECT_THAT(message_of(checkpoint.verify()), HasSubstr(path.string()));
  }
}

TEST(Loading, AFileCutAtAnyByteOrLongerOrAbsentIsNamed) {
  const TemporaryFolder folder;
  save_two(folder);
  const fs::path path = folder / "step-00000020" / "rank-00001.safetensors";
  const std::string whole = read_file(path);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 13) {
    write(path, whole.substr(0, bytes));
    EXPECT_THAT(message_of(Checkpoint::open(folder.path())), HasSubstr(path.string() + " is truncated: it has "))
        << bytes;
  }
  write(path, whole + "x");
  EXPECT_THAT(message_of(Checkpoint::open(folder.path())), HasSubstr(path.string() + " is damaged: it has "));
  fs::remove(path);
  EXPECT_EQ(message_of(Checkpoint::open(folder.path())),
            path.string() + " cannot be read: No such file or directory; there is a checkpoint of step 10");
}

TEST(Loading, ADamagedManifestIsNamed) {
  const TemporaryFolder folder;
  save_two(folder);
  const fs::path path = folder / "step-00000020" / "manifest.json";
  std::string text = read_file(path);
  write(path, text.substr(0, text.size() / 2));
  EXPECT_THAT(message_of(Checkpoint::open(folder.path())),
              HasSubstr(path.string() + ": the text is truncated or damaged"));
  text.replace(text.find("\"step\": 20"), 10, "\"step\": 21");
  write(path, text);
  EXPECT_THAT(message_of(Checkpoint::open(folder.path())),
              HasSubstr(path.string() + ": the file is damaged: its checksum"));
  fs::copy_file(folder / "step-00000010" / "manifest.json", path, fs::copy_options::overwrite_existing);
  EXPECT_THAT(message_of(Checkpoint::open(folder.path())),
              HasSubstr("belongs to step 10, but its folder is named after step 20"));
}

TEST(Loading, ElementsThatNoFileHoldsAreNamed) {
  const TemporaryFolder folder;
  const State state{tensor_of({"w", ElementType::u8, {30}}, 1)};
  ASSERT_TRUE(save({folder.path()}, state, 10, 3, Held::sharded).front());
  const fs::path path = folder / "step-00000010" / "manifest.json";
  auto manifest = parse_manifest(read_file(path), "m").value();
  manifest.files.erase(manifest.files.begin() + 1);
  write(path, manifest_text(manifest));
  auto checkpoint = Checkpoint::open(folder.path()).value();
  EXPECT_TRUE(checkpoint.read("w", {0, 10}));
  EXPECT_TRUE(checkpoint.read("w", {20, 30}));
  for (const ElementRange range : {ElementRange{0, 30}, {9, 11}, {10, 20}, {15, 25}}) {
    const auto read = checkpoint.read("w", range);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::not_computable);
    EXPECT_THAT(read.error().message, HasSubstr("no file contains element "));
  }
}

TEST(Loading, FilesOfTwoCheckpointsAreNotMixed) {
  const TemporaryFolder folder;
  const State one{tensor_of({"w", ElementType::f32, {4}}, 1)};
  const State other{tensor_of({"v", ElementType::f32, {4}}, 1)};
  ASSERT_TRUE(save({folder.path()}, one, 10).front());
  ASSERT_TRUE(save({folder.path()}, other, 20).front());
  const fs::path path = folder / "step-00000020" / "manifest.json";
  auto manifest = parse_manifest(read_file(path), "m").value();
  const auto stolen = parse_manifest(read_file(folder / "step-00000010" / "manifest.json"), "m").value();
  manifest.files[0].crc32 = stolen.files[0].crc32;
  write(path, manifest_text(manifest));
  fs::copy_file(folder / "step-00000010" / "rank-00000.safetensors",
                folder / "step-00000020" / "rank-00000.safetensors", fs::copy_options::overwrite_existing);
  auto checkpoint = Checkpoint::open(folder.path()).value();
  EXPECT_THAT(message_of(checkpoint.read("v", {0, 4})),
              HasSubstr("does not contain v in the form that the manifest describes"));
}

TEST(Loading, APartIsOnlyReadAsItWasSplit) {
  const TemporaryFolder folder;
  const State state{tensor_of({part_name("w", "tp", 0, 2), ElementType::f32, {4}}, 1),
                    tensor_of({part_name("w", "tp", 1, 2), ElementType::f32, {4}}, 2)};
  ASSERT_TRUE(save({folder.path()}, state, 10).front());
  auto checkpoint = Checkpoint::open(folder.path()).value();
  EXPECT_EQ(checkpoint.read("w@tp1of2", {0, 4}).value(), state[1].bytes);
  EXPECT_THAT(message_of(checkpoint.read("w@tp1of4", {0, 2})),
              HasSubstr("it contains w@tp0of2, but not w@tp1of4: a split tensor can be read only with the split"));
  EXPECT_THAT(message_of(checkpoint.read("w", {0, 8})), HasSubstr("it contains w@tp0of2, but not w: "));
  EXPECT_THAT(message_of(checkpoint.read("v", {0, 8})), HasSubstr("it has no tensor v"));
}

TEST(Fitting, TheSameModelFits) {
  const TemporaryFolder folder;
  const State state = state_of(1);
  ASSERT_TRUE(save({folder.path()}, state, 10).front());
  const auto checkpoint = Checkpoint::open(folder.path()).value();
  const auto infos = infos_of(state);
  const NamedOptions model = facts_of(10, 1).model;
  EXPECT_TRUE(check_fits(checkpoint, model, "sgd", infos, Expected::all_tensors));
  EXPECT_TRUE(check_fits(checkpoint, model, "sgd", std::span{infos}.first(2)));
  EXPECT_THAT(message_of(check_fits(checkpoint, model, "sgd", std::span{infos}.first(5), Expected::all_tensors)),
              HasSubstr("it has a tensor empty, which this model does not have"));
}

TEST(Fitting, TheFirstDifferenceIsNamed) {
  const TemporaryFolder folder;
  const State state = state_of(1);
  ASSERT_TRUE(save({folder.path()}, state, 10).front());
  const auto checkpoint = Checkpoint::open(folder.path()).value();
  const auto fits = [&](const NamedOptions& model, const std::string& optimizer,
                        const std::vector<TensorInfo>& tensors) {
    const auto result = check_fits(checkpoint, model, optimizer, tensors);
    EXPECT_TRUE(!result && result.error().kind == ErrorKind::usage);
    return message_of(result);
  };
  const auto infos = infos_of(state);
  EXPECT_THAT(fits({{"kind", "mlp"}, {"hidden", "64"}}, "sgd", infos),
              HasSubstr("the setting hidden is \"12\" in the checkpoint and \"64\" in this run"));
  EXPECT_THAT(fits({{"kind", "mlp"}}, "sgd", infos),
              HasSubstr("the setting hidden is \"12\" in the checkpoint and not set in this run"));
  EXPECT_THAT(fits(facts_of(10, 1).model, "adamw", infos),
              HasSubstr("its optimizer is \"sgd\", but this run uses \"adamw\""));
  auto changed = infos;
  changed[1].shape = {9, 12};
  EXPECT_THAT(fits(facts_of(10, 1).model, "sgd", changed),
              HasSubstr("tensor layer0.linear.weight/momentum is F32 [12, 9] in the checkpoint and F32 [9, 12] in this "
                        "run"));
  changed[0].type = ElementType::f64;
  EXPECT_THAT(fits(facts_of(10, 1).model, "sgd", changed),
              HasSubstr("tensor layer0.linear.weight is F32 [12, 9] in the checkpoint and F64"));
  changed = {{"layer9.linear.weight", ElementType::f32, {1}}};
  EXPECT_THAT(fits(facts_of(10, 1).model, "sgd", changed), HasSubstr("it has no tensor layer9.linear.weight"));
}

}  // namespace
}  // namespace rankscope::trainer
