// Finds the known files of a data folder and reads them whole; .gz files are unpacked on the way.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/trainer/data/datasets.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{4} << 30;

// gzread reads plain files as they are.
Result<std::vector<std::byte>> read_all(const fs::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose};
  if (!file) return fail(ErrorKind::unreadable, format("{} cannot be opened", path.string()));
  std::vector<std::byte> bytes;
  std::array<std::byte, 1u << 16> chunk;
  while (true) {
    const int got = gzread(file.get(), chunk.data(), chunk.size());
    int status = Z_OK;
    gzerror(file.get(), &status);
    // A gzip stream that ends early yields its data without an error from gzread; gzerror has it.
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
      return fail(ErrorKind::unreadable, format("{} cannot be read (damaged or truncated)", path.string()));
    }
    if (got == 0) return bytes;
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + got);
    if (bytes.size() > largest_file)
      return fail(ErrorKind::unreadable, format("{} is larger than 4 GiB", path.string()));
  }
}

std::optional<fs::path> existing(const fs::path& folder, const std::string& file) {
  for (const char* suffix : {"", ".gz"}) {
    std::error_code ignored;
    if (fs::path path = folder / (file + suffix); fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

Result<ImageSet> read_cifar(const fs::path& folder, CifarKind kind, const std::vector<std::string>& files) {
  ImageSet all;
  for (const auto& file : files) {
    const auto path = existing(folder, file);
    if (!path) continue;
    RS_TRY(const auto bytes, read_all(*path));
    RS_TRY(const ImageSet part, parse_cifar(bytes, kind, path->string()));
    all.shape = part.shape;
    all.pixels.insert(all.pixels.end(), part.pixels.begin(), part.pixels.end());
    all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
  }
  if (all.labels.empty()) return fail(ErrorKind::unreadable, format("{} has no {}", folder.string(), files.front()));
  return all;
}

Result<ImageSet> read_cifar10(const fs::path& folder, DataPart part) {
  if (part == DataPart::test) return read_cifar(folder, CifarKind::cifar10, {"test_batch.bin"});
  return read_cifar(
      folder, CifarKind::cifar10,
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"});
}
Result<ImageSet> read_cifar100(const fs::path& folder, DataPart part) {
  return read_cifar(folder, CifarKind::cifar100, {part == DataPart::test ? "test.bin" : "train.bin"});
}

Result<ImageSet> read_mnist(const fs::path& folder, DataPart part) {
  const std::string name = part == DataPart::test ? "t10k" : "train";
  const auto images_path = existing(folder, name + "-images-idx3-ubyte");
  const auto labels_path = existing(folder, name + "-labels-idx1-ubyte");
  if (!images_path || !labels_path) {
    return fail(ErrorKind::unreadable,
                format("{} has no {}-{}-ubyte", folder.string(), name, images_path ? "labels-idx1" : "images-idx3"));
  }
  RS_TRY(const auto image_bytes, read_all(*images_path));
  RS_TRY(const auto label_bytes, read_all(*labels_path));
  RS_TRY(IdxArray images, parse_idx(image_bytes, images_path->string()));
  RS_TRY(IdxArray labels, parse_idx(label_bytes, labels_path->string()));
  return images_of(std::move(images), std::move(labels), folder.string());
}

struct Format {
  std::string_view id;
  const char* first_file;  // its presence tells the format
  const char* subfolder;   // as the archive unpacks
  Result<ImageSet> (*read)(const fs::path&, DataPart);
};

constexpr std::array formats{
    Format{"cifar10", "data_batch_1.bin", "cifar-10-batches-bin", read_cifar10},
    Format{"cifar100", "train.bin", "cifar-100-binary", read_cifar100},
    Format{"mnist", "train-images-idx3-ubyte", "raw", read_mnist},
};

class Images final : public SampleSource {
 public:
  Images(ImageSet set, std::string name) : set_(std::move(set)), name_(std::move(name)) {}
  std::int64_t samples() const override { return static_cast<std::int64_t>(set_.labels.size()); }
  SampleShape shape() const override { return set_.shape; }
  std::string name() const override { return name_; }
  void append(std::int64_t index, Batch& batch) const override {
    const auto values = set_.shape.values();
    const auto pixels =
        std::span{set_.pixels}.subspan(static_cast<std::size_t>(index * values), static_cast<std::size_t>(values));
    for (const std::uint8_t pixel : pixels) batch.values.push_back(static_cast<float>(pixel) / 127.5f - 1.0f);
    batch.labels.push_back(set_.labels[static_cast<std::size_t>(index)]);
    ++batch.size;
  }

 private:
  ImageSet set_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> load_dataset(const DataOptions& options, DataPart part) {
  const fs::path folder{options.folder};
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return fail(ErrorKind::unreadable, format("{}: no such folder (--data)", options.folder));
  }
  for (const auto& format_row : formats) {
    if (!options.dataset.empty() && options.dataset != format_row.id) continue;
    for (const fs::path& candidate : {folder, folder / format_row.subfolder}) {
      if (!existing(candidate, format_row.first_file)) continue;
      RS_TRY(ImageSet set, format_row.read(candidate, part));
      const fs::path trimmed = folder.has_filename() ? folder : folder.parent_path();
      return std::make_unique<Images>(std::move(set), trimmed.filename().string());
    }
  }
  return fail(ErrorKind::unreadable,
              format("{} contains no {} files; expected data_batch_1.bin, train.bin or train-images-idx3-ubyte[.gz]",
                     options.folder, options.dataset.empty() ? "known data" : options.dataset));
}

}  // namespace rankscope::trainer
