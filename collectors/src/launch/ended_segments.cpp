#include "launch/ended_segments.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "spool/folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// Of a larger one only a small part is spare, and to copy it would take a while.
constexpr std::uintmax_t most_packed_bytes = 1024 * 1024;

bool is_small(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size <= most_packed_bytes;
}

/// They are in the packed segment now; a reader does not look at these any more.
void remove_sums(const fs::path& segment) {
  std::error_code ignored;
  fs::remove(segment.parent_path() / recording::sums_folder / segment.filename(), ignored);
}

}  // namespace

/// The kernel grants a lease for reading only then. A process of a container may have a number that means another one
/// here, and a forked child keeps the file of its parent mapped: names and numbers do not tell. Should somebody open
/// the file for writing during the lease, the kernel sends a signal, which by default would end this process.
bool nobody_writes(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  constexpr int ignored_by_default = SIGURG;
  const bool granted = fcntl(file, F_SETSIG, ignored_by_default) == 0 && fcntl(file, F_SETLEASE, F_RDLCK) == 0;
  if (granted) fcntl(file, F_SETLEASE, F_UNLCK);
  close(file);
  return granted;
}

EndedSegments::EndedSegments(const fs::path& spool)
    : inside_{.path = spool}, outside_{.path = spool / recording::outside_folder} {}

void EndedSegments::pack() {
  pack_in(inside_);
  pack_in(outside_);
}

/// What cannot be packed, since it is damaged or the disk is full, stays as it is: gathering says what is wrong.
void EndedSegments::pack_in(Folder& folder) {
  for_each_new_file(folder.path, folder.settled, [&folder](std::string_view name) {
    if (!name.ends_with(recording::segment_suffix)) return;
    const fs::path path = folder.path / name;
    if (is_written(path) || !nobody_writes(path)) return;
    if (is_small(path) && recording::gather_segment(path, path)) remove_sums(path);
    folder.settled.emplace(name);
  });
}

}  // namespace rankscope::collectors
