// Names of files that were looked at, found by their hash: a spool may hold tens of thousands.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace rankscope::collectors {

struct FileNameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};
using FileNames = std::unordered_set<std::string, FileNameHash, std::equal_to<>>;

/// Calls `look` with the name of each file of the folder that is not in `known`; nothing if the folder cannot be read.
/// Makes no path of the others, since that takes most of the time.
template <class Look>
void for_each_new_file(const std::filesystem::path& folder, const FileNames& known, Look look) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{opendir(folder.c_str()), closedir};
  if (open == nullptr) return;
  while (const dirent* const entry = readdir(open.get()))
    if (const std::string_view name{entry->d_name}; !known.contains(name)) look(name);
}

}  // namespace rankscope::collectors
