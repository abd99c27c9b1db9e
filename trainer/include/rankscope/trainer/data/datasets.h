// Samples to train on: CIFAR-10/100 binary files, IDX files (MNIST, FashionMNIST), or generated ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// What one sample looks like. Images have channels x height x width; token samples have a sequence instead.
struct SampleShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t sequence = 0;
  std::int64_t classes = 0;  ///< of labels; the vocabulary of tokens
  bool is_ragged = false;    ///< samples may have fewer tokens than `sequence`

  [[nodiscard]] std::int64_t values() const { return channels * height * width; }
  bool operator==(const SampleShape&) const = default;
};

constexpr std::int64_t no_label = -100;  ///< of what only fills a sample up

/// Samples side by side: images in `values` or tokens in `tokens`, with one label per image or token. All samples of
/// tokens are filled up to the same length.
struct Batch {
  std::int64_t size = 0;
  std::vector<float> values;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> lengths;  ///< tokens of each sample of tokens
};

/// A numbered set of samples; safe to read from several threads.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  [[nodiscard]] virtual std::int64_t samples() const = 0;
  [[nodiscard]] virtual SampleShape shape() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "synthetic" or the folder's base name
  virtual void append(std::int64_t index, Batch& batch) const = 0;
};

/// Pixels and labels as they stand in the files.
struct ImageSet {
  SampleShape shape{};
  std::vector<std::uint8_t> pixels{};
  std::vector<std::uint8_t> labels{};
  bool operator==(const ImageSet&) const = default;
};

/// The number of classes; the records of the two differ in their labels.
enum class CifarKind : std::uint8_t { cifar10, cifar100 };

/// Records of a CIFAR binary file; `name` is for errors. Rejects truncation and labels out of range.
[[nodiscard]] Result<ImageSet> parse_cifar(std::span<const std::byte> bytes, CifarKind kind, const std::string& name);

/// An IDX file of unsigned bytes. Rejects other magic, truncation and trailing bytes.
struct IdxArray {
  std::vector<std::uint32_t> dims;
  std::vector<std::uint8_t> data;
};
[[nodiscard]] Result<IdxArray> parse_idx(std::span<const std::byte> bytes, const std::string& name);

/// Joins IDX images (n, height, width) and labels (n).
[[nodiscard]] Result<ImageSet> images_of(IdxArray images, IdxArray labels, const std::string& name);

/// Which samples: those to train on, or those to measure with.
enum class DataPart : std::uint8_t { training, test };

/// A part of what `options.folder` holds.
[[nodiscard]] Result<std::unique_ptr<SampleSource>> load_dataset(const DataOptions& options, DataPart part);

/// Generated images or tokens, with something to learn in them; a value depends only on seed and sample index. The test
/// part has as many samples as the training part and none of them.
[[nodiscard]] std::unique_ptr<SampleSource> synthetic_samples(const SampleShape& shape, std::int64_t samples,
                                                              std::uint64_t seed, DataPart part = DataPart::training,
                                                              const SequenceLengths& lengths = {});

}  // namespace rankscope::trainer
