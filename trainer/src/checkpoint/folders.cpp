#include "checkpoint/folders.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <set>

#include "checkpoint/files.h"
#include "checkpoint/strict_json.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/trainer/checkpoint/load.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";
constexpr std::uint64_t longest_latest = 64;

std::string_view suffix_of(StepFolderKind kind) {
  switch (kind) {
    case StepFolderKind::saved:
      return "";
    case StepFolderKind::unsaved:
      return ".tmp";
    case StepFolderKind::replaced:
      return ".old";
  }
  return "";
}

std::string name_of(std::int64_t step, StepFolderKind kind) {
  return format("{}{:08}{}", prefix, step, suffix_of(kind));
}

std::optional<StepFolder> step_folder_named(const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto step = leading_number<std::int64_t>(std::string_view{name}.substr(prefix.size()), {.least = 0});
  if (!step) return std::nullopt;
  for (const auto kind : {StepFolderKind::saved, StepFolderKind::unsaved, StepFolderKind::replaced})
    if (name == name_of(*step, kind)) return StepFolder{{}, *step, kind};
  return std::nullopt;
}

}  // namespace

fs::path step_folder(const fs::path& folder, std::int64_t step, StepFolderKind kind) {
  return folder / name_of(step, kind);
}

std::vector<StepFolder> step_folders(const fs::path& folder) {
  std::vector<StepFolder> found;
  std::error_code ignored;  // what cannot be listed has none; opening it says why
  for (fs::directory_iterator entry{folder, ignored}, end; entry != end; entry.increment(ignored)) {
    if (!entry->is_directory(ignored)) continue;
    if (auto step = step_folder_named(entry->path().filename().string())) {
      step->path = entry->path();
      found.push_back(std::move(*step));
    }
  }
  std::ranges::sort(found, {}, [](const StepFolder& step) { return std::pair{step.step, step.kind}; });
  return found;
}

bool has_manifest(const fs::path& step_folder) {
  std::error_code ignored;
  return fs::is_regular_file(step_folder / checkpoint_manifest_name, ignored);
}

Result<std::int64_t> read_latest(const fs::path& folder) {
  const std::string path = (folder / latest_name).string();
  RS_TRY(std::string name, read_whole(AT_FDCWD, path, longest_latest, path));
  if (name.ends_with('\n')) name.pop_back();
  const auto step = step_folder_named(name);
  if (!step || step->kind != StepFolderKind::saved)
    return fail(ErrorKind::unreadable,
                format("{} does not name a checkpoint: {}{}", path, in_quotes(name), other_steps(folder, -1)));
  return step->step;
}

std::string other_steps(const fs::path& folder, std::int64_t but) {
  std::string list;
  int count = 0;
  for (const std::int64_t step : saved_steps(folder)) {
    if (step == but) continue;
    list += format("{}{}", list.empty() ? "" : ", ", step);
    ++count;
  }
  return count == 0
             ? ""
             : format("; there {} {}", count == 1 ? "is a checkpoint of step" : "are checkpoints of steps", list);
}

std::vector<std::int64_t> saved_steps(const fs::path& folder) {
  std::set<std::int64_t> steps;
  for (const StepFolder& found : step_folders(folder))
    if (found.kind != StepFolderKind::unsaved && has_manifest(found.path)) steps.insert(found.step);
  return {steps.begin(), steps.end()};
}

}  // namespace rankscope::trainer
