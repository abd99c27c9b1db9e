#include "rankscope/gui/models/record/previous_recording.h"

#include <unistd.h>

#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

bool is_part_of_recording(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (name == recording::segment_folder) return entry.is_directory() && !entry.is_symlink();
  return name == recording::manifest_name || name == ".job";
}

bool holds_segments_only(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error))
    if (!entry->is_regular_file() || entry->path().extension() != recording::segment_suffix) return false;
  return !error;
}

}  // namespace

InTheWay in_the_way(const fs::path& out) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(out, error);
  if (!fs::exists(status)) return InTheWay::nothing;
  if (!fs::is_directory(status) || !recording::looks_like_recording(out)) return InTheWay::other;
  if (!recording::spools_waiting_for(out).empty()) return InTheWay::unfinished;
  if (!recording::read_manifest(out) || !holds_segments_only(out / recording::segment_folder)) return InTheWay::other;
  for (fs::directory_iterator entry{out, error}, end; !error && entry != end; entry.increment(error))
    if (!is_part_of_recording(*entry)) return InTheWay::other;
  return error ? InTheWay::other : InTheWay::recording;
}

Result<PreviousRecording> PreviousRecording::move_aside(const fs::path& out) {
  if (in_the_way(out) != InTheWay::recording)
    return fail(ErrorKind::cannot_write,
                format("{} contains more than a recording and is not replaced; choose another name", out.string()));
  PreviousRecording old;
  old.out_ = out;
  const fs::path aside = out.string() + ".replaced-" + std::to_string(getpid());
  std::error_code error;
  if (fs::exists(fs::symlink_status(aside, error)))
    return fail(ErrorKind::cannot_write,
                format("{} already exists; remove it, or choose another name", aside.string()));
  fs::rename(out, aside, error);
  if (error) return fail(ErrorKind::cannot_write, format("{} cannot be replaced: {}", out.string(), error.message()));
  old.aside_ = aside;
  return old;
}

Result<void> PreviousRecording::settle() {
  if (aside_.empty()) return {};
  const fs::path aside = std::exchange(aside_, {});
  std::error_code error;
  switch (in_the_way(out_)) {
    case InTheWay::recording:
      fs::remove_all(aside, error);
      if (!error) return {};
      return fail(ErrorKind::cannot_write,
                  format("{} is left over from the replaced recording and cannot be removed: {}", aside.string(),
                         error.message()));
    case InTheWay::nothing:
      fs::rename(aside, out_, error);
      if (!error) return {};
      return fail(ErrorKind::cannot_write, format("{} is the earlier recording and cannot be renamed to {}: {}",
                                                  aside.string(), out_.string(), error.message()));
    case InTheWay::unfinished:
    case InTheWay::other:
      break;
  }
  return fail(ErrorKind::cannot_write,
              format("{} is not a complete recording; the earlier one is kept as {}", out_.string(), aside.string()));
}

}  // namespace rankscope::gui
