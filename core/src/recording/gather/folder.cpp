// What lies where in a recording, and in a spool that was never gathered into one.
#include <algorithm>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_mark = 64 << 10;  // one path

std::vector<fs::path> files_in(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == suffix) paths.push_back(entry->path());
  std::ranges::sort(paths);
  return paths;
}

/// A process that began to record itself after it had been watched for a while: HOST-PID-START, perhaps with a suffix.
bool records_itself(const fs::path& watched, const std::vector<fs::path>& inside) {
  const std::string stem = watched.stem().string();
  return std::ranges::any_of(inside, [&stem](const fs::path& path) {
    const std::string own = path.stem().string();
    return own == stem || own.starts_with(stem + "-");
  });
}

}  // namespace

std::vector<fs::path> segments_of(const fs::path& recording) {
  std::vector<fs::path> paths = files_in(recording / segment_folder, segment_suffix);
  const std::vector<fs::path> spooled = files_in(recording, segment_suffix);
  paths.insert(paths.end(), spooled.begin(), spooled.end());
  for (fs::path& watched : files_in(recording / outside_folder, segment_suffix))
    if (!records_itself(watched, spooled)) paths.push_back(std::move(watched));
  std::ranges::sort(paths);
  return paths;
}

std::vector<SpoolMark> spool_marks_of(const fs::path& recording) {
  std::vector<SpoolMark> marks;
  for (const fs::path& path : files_in(recording, spool_mark_suffix)) {
    const std::string text = read_regular_file(path, longest_mark).value_or("");
    marks.push_back({path.stem().string(), text.substr(0, text.find('\n'))});
  }
  return marks;
}

std::vector<SpoolMark> spools_waiting_for(const fs::path& recording) {
  std::vector<SpoolMark> marks = spool_marks_of(recording);
  const auto manifest = marks.empty() ? Result<Manifest>{Manifest{}} : read_manifest(recording);
  if (!manifest) return marks;
  std::erase_if(marks, [&manifest](const SpoolMark& mark) {
    const std::string host = mark.recorder.substr(0, mark.recorder.rfind('-'));
    return std::ranges::find(manifest->gathered, spool_id(host, mark.spool)) != manifest->gathered.end();
  });
  return marks;
}

}  // namespace rankscope::recording
