// Finds the recordings that others made.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::testing {

inline constexpr std::string_view no_shared_data =
    "there are no recordings of other profilers here (CMake variable RANKSCOPE_SHARED_DATA)";

inline std::filesystem::path shared_data() { return RANKSCOPE_SHARED_DATA; }

/// Files below a folder of the shared data, relative to it; a single empty name where there is none.
inline std::vector<std::string> shared_files(std::string_view folder) {
  std::vector<std::string> files;
  std::error_code failed;
  const std::filesystem::path root = shared_data() / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root, failed})
    if (entry.is_regular_file(failed)) files.push_back(std::filesystem::relative(entry.path(), root, failed).string());
  std::ranges::sort(files);
  if (files.empty()) files.emplace_back();
  return files;
}

/// Exports of Nsight Systems; a single empty name where there is none.
inline std::vector<std::string> exports_of_nsys() {
  std::vector<std::string> files = shared_files("nsys");
  std::erase_if(files, [](const std::string& name) { return !name.ends_with(".sqlite"); });
  if (files.empty()) files.emplace_back();
  return files;
}

/// All recordings, each with its folder; a single empty name where there is none.
inline std::vector<std::string> shared_recordings() {
  std::vector<std::string> all;
  for (const char* const folder : {"kineto", "nsys"})
    for (const std::string& name : shared_files(folder))
      if (name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".sqlite"))
        all.push_back(std::string{folder} + "/" + name);
  if (all.empty()) all.emplace_back();
  return all;
}

/// Letters and digits only, for names of tests and golden files.
inline std::string plain_name(std::string name) {
  if (name.empty()) return "none";
  for (char& c : name)
    if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) c = '_';
  return name;
}

}  // namespace rankscope::testing
