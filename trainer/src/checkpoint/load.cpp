#include "rankscope/trainer/checkpoint/load.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <unordered_map>

#include "checkpoint/files.h"
#include "checkpoint/folders.h"
#include "checkpoint/strict_json.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/checkpoint/safetensors.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;

/// A file of the checkpoint, opened and checked when something of it is read.
struct OpenFile {
  Descriptor descriptor;
  std::unordered_map<std::string, std::uint64_t> begin_of;  // name in the file -> offset
};

struct Place {
  ElementRange range;
  std::size_t file = 0;
};

struct TensorPlaces {
  TensorInfo info;
  std::vector<Place> places;  // by begin
};

// The reader's lock is shared; saving removes only what it can lock for itself.
Result<Descriptor> locked_manifest(int folder, const std::string& path) {
  RS_TRY(Descriptor file, open_to_read(folder, checkpoint_manifest_name, path));
  while (::flock(file.number(), LOCK_SH) != 0 && errno == EINTR) {
  }
  return file;
}

// A crash between moving the old checkpoint of a step away and the new one in leaves only the old one.
fs::path present_folder(const fs::path& folder, std::int64_t step) {
  const fs::path saved = step_folder(folder, step);
  const fs::path replaced = step_folder(folder, step, StepFolderKind::replaced);
  return !has_manifest(saved) && has_manifest(replaced) ? replaced : saved;
}

Result<void> check_size(int folder, const CheckpointFile& file, const std::string& shown) {
  RS_TRY(const Descriptor opened, open_to_read(folder, file.name, shown));
  RS_TRY(const std::uint64_t size, size_of(opened.number(), shown));
  if (size == file.bytes) return {};
  return fail(ErrorKind::unreadable, format("{} is {}: it has {} bytes, but was saved with {}", shown,
                                            size < file.bytes ? "truncated" : "damaged", size, file.bytes));
}

std::string_view without_part(std::string_view tensor) { return tensor.substr(0, tensor.find('@')); }

/// "it has no tensor NAME", and what to do where NAME is a part of another split.
std::string why_missing(const CheckpointManifest& manifest, const std::string& tensor) {
  const ModeSizes& sizes = manifest.facts.sizes;
  for (const TensorInfo& other : manifest.tensors)
    if (without_part(other.name) == without_part(tensor))
      return format(
          "it contains {}, but not {}: a split tensor can be read only with the split with which it was saved; train "
          "with {}",
          other.name, tensor,
          sizes.mode == "3d" ? format("--parallel 3d --dp {} --tp {} --pp {}", sizes.dp, sizes.tp, sizes.pp)
                             : format("--parallel {} on {}", sizes.mode,
                                      counted(static_cast<std::uint64_t>(sizes.dp * sizes.tp * sizes.pp), "rank")));
  return format("it has no tensor {}", tensor);
}

// Whether a checkpoint belongs to what is about to be trained.
tl::unexpected<Error> misfit(const Checkpoint& checkpoint, std::string_view what) {
  return fail(ErrorKind::usage, format("{} is a checkpoint of a different training run: {}", checkpoint.path(), what));
}

std::optional<std::string> value_of(const NamedOptions& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? std::nullopt : std::optional{found->second};
}

std::string shown(const std::optional<std::string>& value) { return value ? in_quotes(*value) : "not set"; }

std::string shown(const TensorInfo& tensor) {
  std::string shape;
  for (const std::int64_t size : tensor.shape) shape += format("{}{}", shape.empty() ? "" : ", ", size);
  return format("{} [{}]", name_of(tensor.type), shape);
}

Result<void> check_model(const Checkpoint& checkpoint, const NamedOptions& model) {
  const NamedOptions& saved = checkpoint.manifest().facts.model;
  NamedOptions names = saved;
  names.insert(model.begin(), model.end());
  for (const auto& [name, value] : names) {
    const auto there = value_of(saved, name);
    const auto here = value_of(model, name);
    if (there != here)
      return misfit(checkpoint, format("the setting {} is {} in the checkpoint and {} in this run", name, shown(there),
                                       shown(here)));
  }
  return {};
}

Result<void> check_tensors(const Checkpoint& checkpoint, std::span<const TensorInfo> tensors, Expected expected) {
  std::map<std::string_view, const TensorInfo*> saved;
  for (const TensorInfo& tensor : checkpoint.manifest().tensors) saved.emplace(tensor.name, &tensor);
  for (const TensorInfo& tensor : tensors) {
    const auto found = saved.find(tensor.name);
    if (found == saved.end()) return misfit(checkpoint, why_missing(checkpoint.manifest(), tensor.name));
    if (*found->second != tensor)
      return misfit(checkpoint, format("tensor {} is {} in the checkpoint and {} in this run", tensor.name,
                                       shown(*found->second), shown(tensor)));
    if (expected == Expected::all_tensors) saved.erase(found);
  }
  if (expected == Expected::some_tensors || saved.empty()) return {};
  return misfit(checkpoint, format("it has a tensor {}, which this model does not have", saved.begin()->first));
}

}  // namespace

struct Checkpoint::Impl {
  fs::path folder;  // of all checkpoints
  std::string path;
  Descriptor directory;  // stays that of this checkpoint when its folder is renamed
  Descriptor lock;
  CheckpointManifest manifest{};
  std::unordered_map<std::string, TensorPlaces> tensors{};
  std::vector<std::optional<OpenFile>> files{};

  [[nodiscard]] std::string path_of(std::size_t file) const {
    return (fs::path{path} / manifest.files[file].name).string();
  }
  /// Adds which other steps could be taken.
  [[nodiscard]] auto with_advice() const {
    return [this](Error error) {
      error.message += other_steps(folder, manifest.facts.step);
      return error;
    };
  }

  void index() {
    for (const TensorInfo& tensor : manifest.tensors) tensors[tensor.name].info = tensor;
    for (std::size_t file = 0; file < manifest.files.size(); ++file)
      for (const TensorRange& entry : manifest.files[file].ranges)
        tensors[entry.tensor].places.push_back({entry.range, file});
    for (auto& [name, tensor] : tensors)
      std::ranges::sort(tensor.places, {}, [](const Place& place) { return place.range.begin; });
    files.resize(manifest.files.size());
  }

  [[nodiscard]] Result<OpenFile> opened(std::size_t index) const {
    const CheckpointFile& file = manifest.files[index];
    const std::string shown = path_of(index);
    RS_TRY(Descriptor descriptor, open_to_read(directory.number(), file.name, shown));
    RS_TRY(const std::uint32_t crc, crc32_of_file(descriptor.number(), shown));
    if (crc != file.crc32)
      return fail(ErrorKind::unreadable, format("{} is damaged: its checksum is {}, but it was saved with {}", shown,
                                                crc32_text(crc), crc32_text(file.crc32)));
    RS_TRY(const SafetensorsHeader header, read_safetensors_header(descriptor.number(), shown));
    std::unordered_map<std::string, const StoredTensor*> stored;
    for (const StoredTensor& tensor : header.tensors) stored.emplace(tensor.info.name, &tensor);
    OpenFile result{std::move(descriptor), {}};
    for (const TensorRange& entry : file.ranges) {
      const TensorInfo& info = tensors.at(entry.tensor).info;
      const std::string name = name_in_file(info, entry.range);
      const auto found = stored.find(name);
      const bool fits = found != stored.end() && found->second->info.type == info.type &&
                        elements_of(found->second->info) == entry.range.count();
      if (!fits)
        return fail(
            ErrorKind::unreadable,
            format("{} does not contain {} in the form that the manifest describes: the file and the manifest are from "
                   "different checkpoints",
                   shown, name));
      result.begin_of.emplace(name, header.data_begin + found->second->begin);
    }
    return result;
  }

  Result<const OpenFile*> file(std::size_t index) {
    if (!files[index]) {
      RS_TRY(OpenFile checked, opened(index).map_error(with_advice()));
      files[index].emplace(std::move(checked));
    }
    return &*files[index];
  }

  /// Fills `bytes` with the elements from `begin` on, which lie in `place`.
  Result<void> read_piece(const TensorInfo& info, const Place& place, std::int64_t begin, std::span<std::byte> bytes) {
    RS_TRY(const OpenFile* const opened, file(place.file));
    const std::uint64_t offset = opened->begin_of.at(name_in_file(info, place.range)) +
                                 static_cast<std::uint64_t>((begin - place.range.begin) * bytes_of(info.type));
    return read_at(opened->descriptor.number(), offset, bytes, path_of(place.file));
  }
};

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

const CheckpointManifest& Checkpoint::manifest() const { return impl_->manifest; }
const std::string& Checkpoint::path() const { return impl_->path; }

Result<Checkpoint> Checkpoint::open(const fs::path& folder, std::optional<std::int64_t> step) {
  if (!step) {
    std::error_code ignored;
    if (!fs::exists(folder / latest_name, ignored))
      return fail(ErrorKind::unreadable,
                  format("{}: the latest checkpoint is not known, because the file '{}' is missing{}", folder.string(),
                         latest_name, other_steps(folder, -1)));
    RS_TRY(step, read_latest(folder));
  }
  const fs::path path = present_folder(folder, *step);
  if (!has_manifest(path))
    return fail(ErrorKind::unreadable, format("{} is not a checkpoint: it has no {}{}", path.string(),
                                              checkpoint_manifest_name, other_steps(folder, *step)));
  const std::string manifest_path = (path / checkpoint_manifest_name).string();
  RS_TRY(Descriptor directory, open_to_read(AT_FDCWD, path.string(), path.string()));
  RS_TRY(Descriptor lock, locked_manifest(directory.number(), manifest_path));
  auto impl = std::make_unique<Impl>(Impl{folder, path.string(), std::move(directory), std::move(lock)});
  impl->manifest.facts.step = *step;
  RS_TRY(const std::string text,
         read_whole(impl->directory.number(), checkpoint_manifest_name, largest_manifest, manifest_path));
  RS_TRY(impl->manifest, parse_manifest(text, manifest_path).map_error(impl->with_advice()));
  if (impl->manifest.facts.step != *step)
    return fail(ErrorKind::unreadable, format("{}: belongs to step {}, but its folder is named after step {}",
                                              manifest_path, impl->manifest.facts.step, *step));
  impl->index();
  for (std::size_t i = 0; i < impl->manifest.files.size(); ++i)
    RS_TRY_VOID(
        check_size(impl->directory.number(), impl->manifest.files[i], impl->path_of(i)).map_error(impl->with_advice()));
  return Checkpoint{std::move(impl)};
}

Result<std::vector<std::byte>> Checkpoint::read(const std::string& tensor, ElementRange range) {
  const auto found = impl_->tensors.find(tensor);
  if (found == impl_->tensors.end())
    return fail(ErrorKind::not_computable, format("{}: {}", path(), why_missing(manifest(), tensor)));
  const auto& [info, places] = found->second;
  const std::int64_t elements = elements_of(info).value_or(0);
  if (range.begin < 0 || range.end < range.begin || range.end > elements)
    return fail(ErrorKind::not_computable,
                format("{}: elements {} to {} of tensor {} were requested, but the tensor has {}", path(), range.begin,
                       range.end, tensor, elements));
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.count() * bytes_of(info.type)));
  std::int64_t at = range.begin;
  const auto fill = [&](const Place& place) -> Result<void> {
    const std::int64_t end = std::min(place.range.end, range.end);
    const auto offset = static_cast<std::size_t>((at - range.begin) * bytes_of(info.type));
    const auto size = static_cast<std::size_t>((end - at) * bytes_of(info.type));
    RS_TRY_VOID(impl_->read_piece(info, place, at, std::span{bytes}.subspan(offset, size)));
    at = end;
    return {};
  };
  auto place = std::ranges::upper_bound(places, at, {}, [](const Place& p) { return p.range.end; });
  for (; place != places.end() && at < range.end && place->range.begin <= at; ++place) RS_TRY_VOID(fill(*place));
  if (at < range.end)
    return fail(ErrorKind::not_computable, format("{}: no file contains element {} of {}{}", path(), at, tensor,
                                                  other_steps(impl_->folder, manifest().facts.step)));
  return bytes;
}

Result<void> Checkpoint::verify() {
  for (std::size_t i = 0; i < impl_->files.size(); ++i) RS_TRY_VOID(impl_->file(i));
  return {};
}

Result<void> check_fits(const Checkpoint& checkpoint, const NamedOptions& model, const std::string& optimizer,
                        std::span<const TensorInfo> tensors, Expected expected) {
  RS_TRY_VOID(check_model(checkpoint, model));
  const std::string& saved = checkpoint.manifest().facts.optimizer;
  if (saved != optimizer)
    return misfit(checkpoint,
                  format("its optimizer is {}, but this run uses {}", in_quotes(saved), in_quotes(optimizer)));
  return check_tensors(checkpoint, tensors, expected);
}

}  // namespace rankscope::trainer
