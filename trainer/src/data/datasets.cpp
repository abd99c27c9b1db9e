#include "rankscope/trainer/data/datasets.h"

#include <algorithm>
#include <limits>

#include "rankscope/core/format.h"
#include "rankscope/trainer/layout/sampler.h"

namespace rankscope::trainer {
namespace {

constexpr std::size_t cifar_pixels = 3 * 32 * 32;

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t position) {
  return std::to_integer<std::uint8_t>(bytes[position]);
}

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t position) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(bytes, position + i);
  return value;
}

// Uniform in [0, 1).
float unit(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

class SyntheticImages final : public SampleSource {
 public:
  SyntheticImages(SampleShape shape, std::int64_t samples, std::uint64_t seed, std::int64_t first)
      : shape_(shape), samples_(samples), seed_(seed), first_(first) {}
  std::int64_t samples() const override { return samples_; }
  SampleShape shape() const override { return shape_; }
  std::string name() const override { return "synthetic"; }

  // Each class has a pattern of its own; a sample is that pattern under noise.
  void append(std::int64_t index, Batch& batch) const override {
    const std::uint64_t noise = mix(seed_, static_cast<std::uint64_t>(first_ + index));
    const std::uint64_t label = noise % static_cast<std::uint64_t>(shape_.classes);
    const std::uint64_t pattern = mix(~seed_, label);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(shape_.values()); ++i) {
      batch.values.push_back(2.0f * (unit(mix(pattern, i)) - 0.5f) + (unit(mix(noise, i)) - 0.5f));
    }
    batch.labels.push_back(static_cast<std::int64_t>(label));
    ++batch.size;
  }

 private:
  SampleShape shape_;
  std::int64_t samples_;
  std::uint64_t seed_;
  std::int64_t first_;  // number of sample 0
};

class SyntheticTokens final : public SampleSource {
 public:
  SyntheticTokens(SampleShape shape, std::int64_t samples, std::uint64_t seed, std::int64_t first,
                  const SequenceLengths& lengths)
      : shape_(shape), samples_(samples), seed_(seed), first_(first), lengths_(lengths) {
    shape_.is_ragged = lengths.vary();
  }
  std::int64_t samples() const override { return samples_; }
  SampleShape shape() const override { return shape_; }
  std::string name() const override { return "synthetic"; }

  // Three tokens of four follow from the one before, the fourth is noise: a small model learns that quickly.
  void append(std::int64_t index, Batch& batch) const override {
    const auto number = static_cast<std::uint64_t>(first_ + index);
    const std::uint64_t noise = mix(seed_, number);
    const std::int64_t length = lengths_.length_of(number, seed_, shape_.sequence);
    const auto vocabulary = static_cast<std::uint64_t>(shape_.classes);
    std::uint64_t token = noise % vocabulary;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(length); ++i) {
      batch.tokens.push_back(static_cast<std::int64_t>(token));
      const std::uint64_t draw = mix(noise, i);
      token = draw % 4 == 0 ? (draw >> 8) % vocabulary : (token * 5 + 3) % vocabulary;
      batch.labels.push_back(static_cast<std::int64_t>(token));
    }
    ++batch.size;
    batch.lengths.push_back(length);
    batch.tokens.resize(static_cast<std::size_t>(batch.size * shape_.sequence), 0);
    batch.labels.resize(static_cast<std::size_t>(batch.size * shape_.sequence), no_label);
  }

 private:
  SampleShape shape_;
  std::int64_t samples_;
  std::uint64_t seed_;
  std::int64_t first_;  // number of sample 0
  SequenceLengths lengths_;
};

}  // namespace

Result<ImageSet> parse_cifar(std::span<const std::byte> bytes, CifarKind kind, const std::string& name) {
  const std::size_t label_bytes = kind == CifarKind::cifar10 ? 1 : 2;  // CIFAR-100: coarse label, then fine label
  const std::int64_t classes = kind == CifarKind::cifar10 ? 10 : 100;
  const std::size_t record = label_bytes + cifar_pixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    return fail(ErrorKind::unreadable, format("{}: {} bytes are not a whole number of CIFAR-{} records of {} bytes; "
                                              "the file is truncated or of a different kind",
                                              name, bytes.size(), classes, record));
  }
  ImageSet set{.shape = {.channels = 3, .height = 32, .width = 32, .classes = classes}};
  for (std::size_t begin = 0; begin < bytes.size(); begin += record) {
    const std::uint8_t label = byte_at(bytes, begin + label_bytes - 1);
    if (label >= classes) {
      return fail(ErrorKind::unreadable, format("{}: record {} has label {}, but CIFAR-{} has labels 0 to {}", name,
                                                begin / record, label, classes, classes - 1));
    }
    set.labels.push_back(label);
    const auto pixels = bytes.subspan(begin + label_bytes, cifar_pixels);
    std::ranges::transform(pixels, std::back_inserter(set.pixels), std::to_integer<std::uint8_t>);
  }
  return set;
}

Result<IdxArray> parse_idx(std::span<const std::byte> bytes, const std::string& name) {
  const auto bad = [&](const std::string& why) { return fail(ErrorKind::unreadable, format("{}: {}", name, why)); };
  if (bytes.size() < 4) return bad("too short for an IDX file");
  if (byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0)
    return bad("not an IDX file (it must begin with two zero bytes)");
  if (byte_at(bytes, 2) != 0x08)
    return bad(format("IDX type {:#04x} is not supported, only bytes (0x08)", byte_at(bytes, 2)));
  const std::size_t dim_count = byte_at(bytes, 3);
  const std::size_t header = 4 + 4 * dim_count;
  if (dim_count == 0 || bytes.size() < header) return bad("the IDX header is truncated");
  IdxArray array;
  std::uint64_t expected = 1;
  for (std::size_t i = 0; i < dim_count; ++i) {
    array.dims.push_back(big_endian(bytes, 4 + 4 * i));
    // The product of hostile sizes must not wrap around to the size of the file.
    if (array.dims.back() != 0 && expected > std::numeric_limits<std::uint64_t>::max() / array.dims.back()) {
      return bad("the IDX header claims more elements than can exist");
    }
    expected *= array.dims.back();
  }
  if (bytes.size() - header != expected) {
    return bad(format("the IDX header says {} bytes of data, but the file has {}", expected, bytes.size() - header));
  }
  std::ranges::transform(bytes.subspan(header), std::back_inserter(array.data), std::to_integer<std::uint8_t>);
  return array;
}

Result<ImageSet> images_of(IdxArray images, IdxArray labels, const std::string& name) {
  if (images.dims.size() != 3 || labels.dims.size() != 1 || images.dims[0] != labels.dims[0] || images.data.empty()) {
    return fail(
        ErrorKind::unreadable,
        format("{}: images must have the shape (n, height, width) and labels the shape (n), with the same n > 0",
               name));
  }
  constexpr std::int64_t classes = 10;
  if (const auto label = std::ranges::max(labels.data); label >= classes) {
    return fail(ErrorKind::unreadable, format("{}: label {} is not in the range 0 to {}", name, label, classes - 1));
  }
  const SampleShape shape{.channels = 1, .height = images.dims[1], .width = images.dims[2], .classes = classes};
  return ImageSet{shape, std::move(images.data), std::move(labels.data)};
}

std::unique_ptr<SampleSource> synthetic_samples(const SampleShape& shape, std::int64_t samples, std::uint64_t seed,
                                                DataPart part, const SequenceLengths& lengths) {
  const std::int64_t first = part == DataPart::test ? samples : 0;
  if (shape.sequence > 0) return std::make_unique<SyntheticTokens>(shape, samples, seed, first, lengths);
  return std::make_unique<SyntheticImages>(shape, samples, seed, first);
}

}  // namespace rankscope::trainer
