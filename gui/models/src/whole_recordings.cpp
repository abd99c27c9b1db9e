#include "rankscope/gui/models/whole_recordings.h"

#include <algorithm>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

/// The recording that a manifest or segment is a part of; else the path itself.
fs::path whole(const fs::path& path) {
  if (path.filename() != recording::manifest_name && path.extension() != recording::segment_suffix) return path;
  std::error_code error;
  fs::path folder = fs::absolute(path, error).parent_path();
  if (folder.filename() == recording::segment_folder) folder = folder.parent_path();
  return error || recording::segments_of(folder).empty() ? path : folder;
}

}  // namespace

Source with_whole_recordings(Source source) {
  std::vector<fs::path> paths;
  for (const fs::path& path : source.paths)
    if (fs::path one = whole(path); std::ranges::find(paths, one) == paths.end()) paths.push_back(std::move(one));
  source.paths = std::move(paths);
  return source;
}

}  // namespace rankscope::gui
