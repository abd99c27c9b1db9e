#include "rankscope/trainer/checkpoint/save.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <vector>

#include "checkpoint/files.h"
#include "checkpoint/folders.h"
#include "checkpoint/manifest_json.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/checkpoint/safetensors.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;

constexpr const char* error_key = "error";
constexpr const char* written_by = "rankscope " RANKSCOPE_VERSION;

std::span<const std::byte> bytes_of_text(std::string_view text) { return std::as_bytes(std::span{text}); }

tl::unexpected<Error> cannot_save(const fs::path& path, std::string_view why) {
  return fail(ErrorKind::cannot_write, format("cannot save {}: {}", path.string(), why));
}

TensorBytes stored_form(const TensorSlice& slice) {
  const bool is_whole = slice.range == ElementRange{0, elements_of(slice.tensor).value_or(0)};
  TensorInfo info{name_in_file(slice.tensor, slice.range), slice.tensor.type,
                  is_whole ? slice.tensor.shape : std::vector{slice.range.count()}};
  return {std::move(info), slice.bytes};
}

// Open for writing: on NFS a lock for oneself needs that.
bool is_read(const fs::path& checkpoint) {
  const Descriptor manifest{::open((checkpoint / checkpoint_manifest_name).c_str(), O_RDWR | O_CLOEXEC)};
  return manifest.number() >= 0 && ::flock(manifest.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// The manifest goes first: what a crash leaves of the rest is no checkpoint.
std::string remove_folder(const fs::path& path, const StageHook& hook) {
  const auto done = [&](std::string_view stage) {
    if (hook) hook(format("{} {}", path.filename().string(), stage));
  };
  if (is_read(path)) return {};
  std::error_code failed;
  fs::remove(path / checkpoint_manifest_name, failed);
  done("without manifest");
  if (!failed) fs::remove_all(path, failed);
  done("removed");
  return failed ? format("cannot remove {}: {}", path.string(), failed.message()) : "";
}

/// Removes checkpoints of steps before `step` until `keep` stay, that of `step` included, and what crashes left of
/// steps up to it. One that is being read stays; the next saving tries again. Gives what could not be removed and why.
std::string remove_old(const fs::path& folder, std::int64_t step, int keep, const StageHook& hook) {
  const std::vector<StepFolder> all = step_folders(folder);
  std::vector<fs::path> removed;
  std::set<std::int64_t> stay{step};
  for (auto found = all.rbegin(); found != all.rend(); ++found) {
    if (found->step > step || (found->step == step && found->kind == StepFolderKind::saved)) continue;
    // What was moved out of the way is the checkpoint of its step until another one has its place.
    const bool is_replaced = found->kind == StepFolderKind::replaced && has_manifest(step_folder(folder, found->step));
    const bool is_whole = found->kind != StepFolderKind::unsaved && has_manifest(found->path) && !is_replaced;
    if (is_whole && static_cast<int>(stay.size()) < keep)
      stay.insert(found->step);
    else
      removed.push_back(found->path);
  }
  std::ranges::reverse(removed);
  std::string warning;
  for (const fs::path& path : removed) {
    const std::string problem = remove_folder(path, hook);
    if (warning.empty()) warning = problem;
  }
  return warning;
}

/// One rank's part in saving.
class Saving {
 public:
  Saving(const SaveOptions& options, const SavingRank& rank, const TrainingFacts& facts)
      : options_(options),
        rank_(rank),
        facts_(facts),
        final_(step_folder(options.folder, facts.step)),
        temporary_(step_folder(options.folder, facts.step, StepFolderKind::unsaved)) {}

  Result<SavedCheckpoint> save(std::span<const TensorSlice> slices) {
    RS_TRY_VOID(exchange(rank_.rank == 0 ? prepare() : Json::object()));
    const auto from_ranks = exchange(write_own(slices));
    if (!from_ranks) return discarded(from_ranks.error());
    const auto ends = exchange(rank_.rank == 0 ? finish(*from_ranks) : Json::object());
    if (!ends) return tl::make_unexpected(ends.error());
    return SavedCheckpoint{final_, ends->front()["bytes"].get<std::uint64_t>(),
                           ends->front()["warning"].get<std::string>()};
  }

 private:
  void done(std::string_view stage) const {
    if (options_.at_stage) options_.at_stage(stage);
  }

  /// Gives what all ranks say, by rank, or the error of the first that says one.
  Result<std::vector<Json>> exchange(const Result<Json>& mine) const {
    const Json message = mine ? *mine : Json{{error_key, mine.error().message}};
    std::vector<std::string> texts{compact(message)};
    if (rank_.world > 1) {
      RS_TRY(texts, rank_.exchange(texts.front()));
    }
    RS_CHECK(static_cast<int>(texts.size()) == rank_.world);
    std::vector<Json> all;
    for (const std::string& text : texts) {
      RS_TRY(Json json, parse_strict(text, format("message from rank {} during the save", all.size())));
      if (json.contains(error_key)) {
        const auto error = json[error_key].get<std::string>();
        return fail(ErrorKind::cannot_write, rank_.world == 1 ? error : format("rank {}: {}", all.size(), error));
      }
      all.push_back(std::move(json));
    }
    return all;
  }

  /// Rank 0 makes an empty folder; a crash may have left one with files of more ranks.
  [[nodiscard]] Result<Json> prepare() const {
    std::error_code failed;
    const bool is_new = fs::create_directories(options_.folder, failed);
    if (is_new) RS_TRY_VOID(sync_folder(options_.folder / ".."));
    if (!failed) fs::remove_all(temporary_, failed);
    if (!failed) fs::create_directory(temporary_, failed);
    if (failed) return cannot_save(temporary_, failed.message());
    done("folder made");
    return Json::object();
  }

  [[nodiscard]] std::string own_name() const { return format("rank-{:05}.safetensors", rank_.rank); }

  [[nodiscard]] Result<Json> write_own(std::span<const TensorSlice> slices) const {
    std::vector<TensorSlice> present;
    for (const TensorSlice& slice : slices) {
      RS_CHECK(is_tensor_name(slice.tensor.name) && slice.range.begin >= 0 && slice.range.begin <= slice.range.end);
      RS_CHECK(slice.range.end <= elements_of(slice.tensor).value_or(-1));
      if (slice.range.count() > 0) present.push_back(slice);
    }
    // Wide elements first: behind a header of a multiple of 8 bytes each tensor then begins where its type wants it.
    std::ranges::stable_sort(present, std::greater{}, [](const TensorSlice& s) { return bytes_of(s.tensor.type); });
    std::map<std::string, TensorInfo> tensors;
    for (const TensorSlice& slice : slices) tensors.emplace(slice.tensor.name, slice.tensor);
    Holdings own;
    for (auto& [name, tensor] : tensors) own.tensors.push_back(std::move(tensor));
    if (!present.empty()) {
      RS_TRY(CheckpointFile file, write_file(present));
      own.files.push_back(std::move(file));
    }
    return Json{{"tensors", tensors_json(own.tensors)}, {"files", files_json(own.files)}};
  }

  [[nodiscard]] Result<CheckpointFile> write_file(const std::vector<TensorSlice>& slices) const {
    CheckpointFile file{.name = own_name()};
    std::vector<TensorBytes> stored;
    for (const TensorSlice& slice : slices) {
      stored.push_back(stored_form(slice));
      file.ranges.push_back({slice.tensor.name, slice.range});
    }
    const std::string head = safetensors_head(
        stored, {{"written_by", written_by}, {"step", format("{}", facts_.step)}, {"rank", format("{}", rank_.rank)}});
    if (head.size() > largest_safetensors_header)
      return cannot_save(temporary_ / file.name, format("{} tensors are too many for one file", slices.size()));
    std::vector<std::span<const std::byte>> parts{bytes_of_text(head)};
    for (const TensorBytes& tensor : stored) parts.push_back(tensor.bytes);
    std::error_code ignored;  // there it is, unless folders are not shared: then rank 0 says that it misses the file
    fs::create_directories(temporary_, ignored);
    RS_TRY(const FileSum sum, write_durably(temporary_ / file.name, parts, options_.at_stage));
    file.bytes = sum.bytes;
    file.crc32 = sum.crc32;
    return file;
  }

  /// What rank 0 does when all files are there.
  [[nodiscard]] Result<Json> finish(const std::vector<Json>& from_ranks) const {
    const auto manifest = written_manifest(from_ranks);
    if (!manifest) return discarded(manifest.error());
    RS_TRY_VOID(put_in_place());
    const std::string latest = final_.filename().string() + "\n";
    const std::vector parts{bytes_of_text(latest)};
    RS_TRY_VOID(write_durably(options_.folder / latest_name, parts, options_.at_stage));
    const std::string warning = remove_old(options_.folder, facts_.step, options_.keep, options_.at_stage);
    std::uint64_t bytes = 0;
    for (const CheckpointFile& file : manifest->files) bytes += file.bytes;
    return Json{{"bytes", bytes}, {"warning", warning}};
  }

  [[nodiscard]] Result<CheckpointManifest> written_manifest(const std::vector<Json>& from_ranks) const {
    RS_TRY(CheckpointManifest manifest, combined(from_ranks));
    for (const CheckpointFile& file : manifest.files) {
      const fs::path path = temporary_ / file.name;
      std::error_code failed;
      if (fs::file_size(path, failed) != file.bytes || failed)
        return cannot_save(path,
                           "rank 0 cannot see the file that another rank wrote; choose a folder that all machines "
                           "share");
    }
    const std::string text = manifest_text(manifest);
    const std::vector parts{bytes_of_text(text)};
    RS_TRY_VOID(write_durably(temporary_ / checkpoint_manifest_name, parts, options_.at_stage));
    return manifest;
  }

  /// Ranks may have been given states that do not fit together: that must not look like a checkpoint.
  [[nodiscard]] Result<CheckpointManifest> combined(const std::vector<Json>& from_ranks) const {
    CheckpointManifest manifest{.created_by = written_by, .facts = facts_};
    std::map<std::string, TensorInfo> tensors;
    for (std::size_t rank = 0; rank < from_ranks.size(); ++rank) {
      RS_TRY(Holdings part, holdings_from({from_ranks[rank], format("rank {}", rank)}));
      for (TensorInfo& tensor : part.tensors) {
        const auto [known, is_new] = tensors.emplace(tensor.name, tensor);
        if (!is_new && known->second != tensor)
          return cannot_save(
              final_, format("{} has a different type or shape on rank {} than on lower ranks", tensor.name, rank));
      }
      for (CheckpointFile& file : part.files) manifest.files.push_back(std::move(file));
    }
    for (auto& [name, tensor] : tensors) manifest.tensors.push_back(std::move(tensor));
    const Holdings all{manifest.tensors, manifest.files};
    RS_TRY_VOID(check_ranges(all, format("cannot save {}", final_.string())));
    if (const auto complete = check_complete(manifest); !complete) return cannot_save(final_, complete.error().message);
    return manifest;
  }

  [[nodiscard]] Result<void> put_in_place() const {
    const fs::path replaced = step_folder(options_.folder, facts_.step, StepFolderKind::replaced);
    std::error_code failed;
    if (has_manifest(final_)) {
      fs::remove_all(replaced, failed);
      if (!failed) fs::rename(final_, replaced, failed);
    } else {
      fs::remove_all(final_, failed);
    }
    done("place is free");
    if (!failed) fs::rename(temporary_, final_, failed);
    if (failed) return cannot_save(final_, failed.message());
    done("in place");
    RS_TRY_VOID(sync_folder(options_.folder));
    done("in place for good");
    return {};
  }

  /// Each rank takes its own file away, since folders may not be shared; rank 0 all of them.
  [[nodiscard]] tl::unexpected<Error> discarded(Error error) const {
    std::error_code ignored;  // the error that came first matters more
    fs::remove(temporary_ / own_name(), ignored);
    if (rank_.rank == 0) fs::remove_all(temporary_, ignored);
    return tl::make_unexpected(std::move(error));
  }

  const SaveOptions& options_;
  const SavingRank& rank_;
  const TrainingFacts& facts_;
  fs::path final_;
  fs::path temporary_;
};

}  // namespace

Result<SavedCheckpoint> save_checkpoint(const SaveOptions& options, const SavingRank& rank, const TrainingFacts& facts,
                                        std::span<const TensorSlice> slices) {
  RS_CHECK(options.keep >= 1 && rank.rank >= 0 && rank.rank < rank.world && rank.world == facts.world_size);
  RS_CHECK(rank.world == 1 || rank.exchange);
  return Saving{options, rank, facts}.save(slices);
}

}  // namespace rankscope::trainer
