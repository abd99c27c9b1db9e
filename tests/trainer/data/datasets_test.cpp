#include "rankscope/trainer/data/datasets.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace rankscope::trainer {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes cifar_record(const std::vector<int>& labels) { return joined(bytes_of(labels), Bytes(3072, std::byte{200})); }

TEST(Cifar, Cifar10HasOneLabelAndCifar100TheFineOneSecond) {
  const auto ten = parse_cifar(joined(cifar_record({3}), cifar_record({9})), CifarKind::cifar10, "f").value();
  EXPECT_EQ(ten.labels, (std::vector<std::uint8_t>{3, 9}));
  EXPECT_EQ(ten.pixels.size(), 2u * 3072u);
  const auto hundred = parse_cifar(cifar_record({19, 99}), CifarKind::cifar100, "f").value();
  EXPECT_EQ(hundred.labels, (std::vector<std::uint8_t>{99}));
}

TEST(Cifar, HostileFilesAreRefusedWithTheirName) {
  Bytes cut = cifar_record({3});
  cut.pop_back();
  for (const Bytes& bytes : {Bytes{}, cut, cifar_record({10}), joined(cifar_record({1}), bytes_of({1}))}) {
    const auto set = parse_cifar(bytes, CifarKind::cifar10, "batch.bin");
    ASSERT_FALSE(set);
    EXPECT_TRUE(set.error().message.starts_with("batch.bin: ")) << set.error().message;
  }
}

TEST(Idx, ReadsBigEndianSizes) {
  const auto array = parse_idx(bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6}), "f").value();
  EXPECT_EQ(array.dims, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(array.data, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Idx, HostileFilesAreRefused) {
  const std::vector<std::vector<int>> files{
      {},
      {0, 0, 8},
      {1, 0, 8, 1, 0, 0, 0, 1, 7},
      {0, 0, 0x0D, 1, 0, 0, 0, 1, 7},
      {0, 0, 8, 0},
      {0, 0, 8, 3, 0, 0, 0, 1},
      {0, 0, 8, 1, 0, 0, 0, 2, 7},
      {0, 0, 8, 1, 0, 0, 0, 1, 7, 7},
      {0, 0, 8, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0},  // 2^64 elements: the product wraps to 0
      {0, 0, 8, 255, 255, 255, 255, 255},
  };
  for (const auto& file : files) EXPECT_FALSE(parse_idx(bytes_of(file), "f")) << file.size();
}

TEST(Idx, ImagesAndLabelsMustFit) {
  EXPECT_TRUE(images_of({{2, 1, 1}, {5, 6}}, {{2}, {0, 9}}, "f"));
  EXPECT_FALSE(images_of({{2, 1, 1}, {5, 6}}, {{3}, {0, 9, 1}}, "f"));
  EXPECT_FALSE(images_of({{2, 1, 1}, {5, 6}}, {{2}, {0, 10}}, "f"));
  EXPECT_FALSE(images_of({{0, 28, 28}, {}}, {{0}, {}}, "f"));
}

class DataFolder : public ::testing::Test {
 protected:
  DataFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rankscope-data-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~DataFolder() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const Bytes& bytes) const {
    std::ofstream{folder_ / name, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                          static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] auto load(DataPart part = DataPart::training) const {
    DataOptions options;
    options.folder = folder_.string();
    return load_dataset(options, part);
  }
  std::filesystem::path folder_;
};

const Bytes two_images = bytes_of({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 255});
const Bytes two_labels = bytes_of({0, 0, 8, 1, 0, 0, 0, 2, 4, 7});

TEST_F(DataFolder, MnistIsReadPlainAndPacked) {
  write("train-images-idx3-ubyte", two_images);
  const gzFile packed = gzopen((folder_ / "train-labels-idx1-ubyte.gz").c_str(), "wb");
  gzwrite(packed, two_labels.data(), static_cast<unsigned>(two_labels.size()));
  gzclose(packed);
  const auto source = load();
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), folder_.filename().string());
  Batch batch;
  (*source)->append(1, batch);
  (*source)->append(0, batch);
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{7, 4}));
  EXPECT_EQ(batch.values, (std::vector<float>{1.0f, -1.0f}));
}

TEST_F(DataFolder, ACutGzipFileIsRefused) {
  write("train-images-idx3-ubyte", two_images);
  const auto path = folder_ / "train-labels-idx1-ubyte.gz";
  const gzFile packed = gzopen(path.c_str(), "wb");
  gzwrite(packed, two_labels.data(), static_cast<unsigned>(two_labels.size()));
  gzclose(packed);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 6);
  EXPECT_FALSE(load());
}

TEST_F(DataFolder, AnEmptyFolderSaysWhatItMayHold) {
  const auto source = load();
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().kind, ErrorKind::unreadable);
  EXPECT_NE(source.error().message.find("data_batch_1.bin"), std::string::npos);
}

TEST_F(DataFolder, CifarBatchesAreJoined) {
  write("data_batch_1.bin", cifar_record({1}));
  write("data_batch_3.bin", cifar_record({2}));
  EXPECT_EQ(load().value()->samples(), 2);
}

TEST_F(DataFolder, TheTestPartIsReadFromFilesOfItsOwn) {
  write("data_batch_1.bin", cifar_record({1}));
  const auto missing = load(DataPart::test);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("has no test_batch.bin"), std::string::npos) << missing.error().message;
  write("test_batch.bin", joined(cifar_record({3}), cifar_record({4})));
  EXPECT_EQ(load(DataPart::test).value()->samples(), 2);
  EXPECT_EQ(load().value()->samples(), 1);
}

TEST(Synthetic, TheTestPartBeginsBehindTheTrainingPart) {
  const SampleShape shape{.sequence = 4, .classes = 16};
  Batch tested;
  Batch behind;
  synthetic_samples(shape, 100, 5, DataPart::test)->append(2, tested);
  synthetic_samples(shape, 200, 5)->append(102, behind);
  EXPECT_EQ(tested.tokens, behind.tokens);
}

TEST(Synthetic, AValueDependsOnSeedAndIndexOnly) {
  const SampleShape shape{.channels = 1, .height = 2, .width = 2, .classes = 10};
  Batch a;
  Batch b;
  synthetic_samples(shape, 100, 5)->append(42, a);
  synthetic_samples(shape, 9000, 5)->append(42, b);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.labels, b.labels);
  Batch other;
  synthetic_samples(shape, 100, 6)->append(42, other);
  EXPECT_NE(a.values, other.values);
}

TEST(Synthetic, TokensAreInsideTheVocabularyAndLabelsAreTheNextOnes) {
  Batch batch;
  synthetic_samples({.sequence = 16, .classes = 50}, 10, 1)->append(3, batch);
  ASSERT_EQ(batch.tokens.size(), 16u);
  for (std::size_t i = 0; i + 1 < batch.tokens.size(); ++i) EXPECT_EQ(batch.labels[i], batch.tokens[i + 1]);
  for (const auto token : batch.tokens) EXPECT_TRUE(token >= 0 && token < 50);
}

TEST(Synthetic, ShorterSamplesAreFilledUpWithoutLabels) {
  const SampleShape shape{.sequence = 16, .classes = 50};
  const SequenceLengths lengths{.kind = SequenceLengths::Kind::uniform, .shortest = 2, .longest = 9};
  const auto source = synthetic_samples(shape, 10, 1, DataPart::training, lengths);
  EXPECT_TRUE(source->shape().is_ragged);
  EXPECT_FALSE(synthetic_samples(shape, 10, 1)->shape().is_ragged);
  Batch batch;
  Batch full;
  for (const std::int64_t sample : {3, 4}) {
    source->append(sample, batch);
    synthetic_samples(shape, 10, 1)->append(sample, full);
  }
  ASSERT_EQ(batch.tokens.size(), 32u);
  ASSERT_EQ(batch.labels.size(), 32u);
  for (std::size_t i = 0; i < 32; ++i) {
    const bool is_there = static_cast<std::int64_t>(i % 16) < batch.lengths[i / 16];
    EXPECT_EQ(batch.tokens[i], is_there ? full.tokens[i] : 0) << i;
    EXPECT_EQ(batch.labels[i], is_there ? full.labels[i] : no_label) << i;
  }
}

}  // namespace
}  // namespace rankscope::trainer
