#include "exports/shared/output_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "exports/shared/output_target.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_write(const fs::path& target, std::string_view why) {
  return fail(ErrorKind::cannot_write, format("cannot write {}: {}; nothing was written", target.string(), why));
}

/// A trailing slash names the folder, not a nameless entry in it.
fs::path without_slash(const fs::path& target) { return target.filename().empty() ? target.parent_path() : target; }

/// In every folder that we write, with the name of each file that we wrote into it, a line each. Names alone cannot
/// tell, since people have traces that are named like ours.
constexpr const char* mark = ".rankscope-export";

/// "x" of "x.json" and "x.json.gz"; the path itself if it is not named like a file of traces.
fs::path without_trace_suffix(const fs::path& target) {
  const std::string name = target.filename().string();
  for (const std::string_view suffix : {".pt.trace.json", ".json.gz", ".json"})
    if (name.ends_with(suffix) && name.size() > suffix.size())
      return target.parent_path() / name.substr(0, name.size() - suffix.size());
  return target;
}

/// The first entry of a folder, by name, that no export of ours wrote; "" if there is none.
Result<std::string> not_ours(const fs::path& folder) {
  std::set<std::string> ours{mark};
  std::ifstream listed{folder / mark};
  for (std::string name; std::getline(listed, name);) ours.insert(name);
  std::string found;
  std::error_code failed;
  for (fs::directory_iterator entry{folder, failed}, end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!ours.contains(name) && (found.empty() || name < found)) found = name;
  }
  if (failed) return cannot_write(folder, failed.message());
  return found;
}

/// `folder` gets the mark, with all that is in it.
Result<void> put_mark(const fs::path& folder) {
  std::string names;
  std::error_code failed;
  for (fs::directory_iterator entry{folder, failed}, end; !failed && entry != end; entry.increment(failed))
    names += entry->path().filename().string() + '\n';
  if (failed) return cannot_write(folder, failed.message());
  return write_file(folder / mark, names);
}

}  // namespace

OutputPlace::OutputPlace(fs::path target, ScratchFolder scratch)
    : target_(std::move(target)), scratch_(std::move(scratch)), temporary_(scratch_.path() / target_.filename()) {}

Result<OutputPlace> OutputPlace::beside(const fs::path& target) {
  auto scratch = ScratchFolder::create(folder_of(target), hidden_prefix(target));
  if (!scratch) return cannot_write(target, scratch.error().message);
  return OutputPlace{target, std::move(*scratch)};
}

Result<OutputPlace> OutputPlace::file(const fs::path& target) {
  if (is_stdout(target))
    return fail(ErrorKind::usage, "this format cannot be written to stdout; give a file name instead of -");
  std::error_code failed;
  const auto status = fs::status(target, failed);
  if (target.filename().empty() || fs::is_directory(status)) return cannot_write(target, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return cannot_write(target, "it is not a regular file");
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) return cannot_write(target, "permission denied");
  const auto parent = target.parent_path();
  if (!parent.empty() && !fs::is_directory(parent, failed)) return cannot_write(target, "its folder does not exist");
  return beside(follow_links(target));
}

Result<OutputPlace> OutputPlace::folder(const fs::path& target) {
  if (is_stdout(target))
    return fail(ErrorKind::usage, "this format writes a folder of files; give a folder instead of -");
  const fs::path real = follow_links(without_slash(target));
  std::error_code failed;
  const auto status = fs::status(real, failed);
  if (fs::exists(status) && !fs::is_directory(status))
    return cannot_write(target, "it is a file, and this format writes a folder of files");
  if (const fs::path plain = without_trace_suffix(real); !fs::exists(status) && plain != real)
    return fail(ErrorKind::usage, format("{} is named like a file, but this export writes a folder with a file per "
                                         "rank; write to the folder {}, or select one rank with --ranks",
                                         target.string(), plain.string()));
  if (fs::is_directory(status)) {
    RS_TRY(const std::string other, not_ours(real));
    if (!other.empty())
      return cannot_write(
          target, format("the folder contains {}, which no rankscope export wrote; choose a new folder", other));
  }
  RS_TRY(OutputPlace place, beside(real));
  fs::create_directory(place.path(), failed);
  if (failed) return cannot_write(target, failed.message());
  return place;
}

Result<void> OutputPlace::commit() {
  std::error_code failed;
  if (fs::is_directory(temporary_, failed)) RS_TRY_VOID(put_mark(temporary_));
  // rename() replaces a file, but no folder with files in it.
  if (fs::is_directory(target_, failed)) return exchange();
  fs::rename(temporary_, target_, failed);
  return failed ? Result<void>{cannot_write(target_, failed.message())} : Result<void>{};
}

/// What stood at the target goes with the scratch folder.
Result<void> OutputPlace::exchange() {
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return {};
  std::error_code failed;  // some file systems cannot exchange
  const fs::path old = scratch_.path() / "old";
  fs::rename(target_, old, failed);
  if (!failed) fs::rename(temporary_, target_, failed);
  if (!failed) return {};
  std::error_code ignored;
  if (!fs::exists(target_, ignored)) fs::rename(old, target_, ignored);
  return cannot_write(target_, failed.message());
}

}  // namespace rankscope::analyzer
