// What a killed recorder left behind: found, and gathered after all.
#include <unistd.h>

#include <algorithm>

#include "folders.h"
#include "gather.h"
#include "rankscope/collectors/spools.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/recording.h"
#include "spool.h"
#include "spool/segment_names.h"
#include "spool/tally.h"
#include "talk.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

std::uint64_t count_written(const std::vector<fs::path>& segments) {
  return static_cast<std::uint64_t>(std::ranges::count_if(segments, is_written));
}

/// Nothing while its recorder runs, or may run on another host: it is in use then.
std::optional<LeftSpool> look_at(const fs::path& path) {
  LeftSpool left{.path = path};
  if (const auto manifest = recording::read_manifest(path)) {
    if (manifest->spooled && (is_elsewhere(manifest->spooled->recorder) || is_running(manifest->spooled->recorder)))
      return std::nullopt;
    left.command = manifest->command;
    if (manifest->spooled) left.out = manifest->spooled->out;
  }
  const auto segments = recording::segments_of(path);
  left.segments = segments.size();
  left.written = count_written(segments);
  for (const fs::path& segment : segments) {
    std::error_code error;
    const auto size = fs::file_size(segment, error);
    if (!error) left.bytes += size;
  }
  return left;
}

Result<recording::Manifest> check_spool(const fs::path& spool) {
  std::error_code error;
  const std::string name = spool.string();
  if (!fs::is_directory(spool, error))
    return fail(ErrorKind::unreadable, format("--recover: folder {} does not exist", name));
  if (const auto owner = owner_of(spool); owner != geteuid())
    return fail(ErrorKind::unreadable,
                owner ? format("--recover: {} belongs to another user (uid {}), who must recover it", name, *owner)
                      : format("--recover: {} is a link; give the folder itself", name));
  auto manifest = recording::read_manifest(spool);
  const bool is_spool = manifest ? manifest->spooled.has_value() : !recording::segments_of(spool).empty();
  if (!is_spool)
    return fail(
        ErrorKind::unreadable,
        format("--recover: {} is not a folder that a recorder left; `rankscope doctor` lists such folders", name));
  if (manifest && is_elsewhere(manifest->spooled->recorder))
    return fail(ErrorKind::cannot_write,
                format("--recover: {} belongs to a recorder on host {}, which may still be running; recover it there",
                       name, manifest->spooled->recorder.host));
  if (manifest && is_running(manifest->spooled->recorder))
    return fail(ErrorKind::cannot_write,
                format("--recover: the recorder of {} (process {}) is still running and will gather this folder itself",
                       name, manifest->spooled->recorder.pid));
  wait_for_stragglers(spool);  // those that are just ending
  if (const auto running = count_written(recording::segments_of(spool)); running > 0)
    return fail(ErrorKind::cannot_write, format("--recover: {} is still being written by {}; wait until {}", name,
                                                counted(running, "recorded process"),
                                                running == 1 ? "it ends, or stop it" : "they end, or stop them"));
  return manifest ? std::move(manifest) : Result<recording::Manifest>{new_manifest({})};
}

/// The folder that the killed recorder made is taken over; any other that exists is not touched.
Result<fs::path> recovered_out(const RecoverOptions& options, const recording::Manifest& manifest) {
  const fs::path wished = options.out.empty() && manifest.spooled ? fs::path{manifest.spooled->out} : options.out;
  if (wished.empty())
    return fail(ErrorKind::usage,
                format("--recover: {} does not say which recording it belongs to; give one with --out",
                       options.spool.string()));
  for (const recording::SpoolMark& mark : recording::spool_marks_of(wished))
    if (mark.spool == options.spool) return wished;
  RS_TRY(const OutFolder made, make_out_folder({.out = wished}, {}));
  return made.path;
}

}  // namespace

std::vector<LeftSpool> left_spools() {
  std::vector<LeftSpool> found;
  for (const fs::path& base : spool_bases()) {
    std::error_code error;
    for (fs::directory_iterator entry{base, error}, end; !error && entry != end; entry.increment(error)) {
      if (!is_spool_name(entry->path().filename().string()) || owner_of(entry->path()) != geteuid()) continue;
      if (auto left = look_at(entry->path())) found.push_back(std::move(*left));
    }
  }
  std::ranges::sort(found, {}, &LeftSpool::path);
  return found;
}

Result<RecordSummary> recover(const RecoverOptions& given) {
  RecoverOptions options = given;
  options.spool = fs::absolute(given.spool).lexically_normal();
  if (!options.spool.has_filename()) options.spool = options.spool.parent_path();  // "FOLDER/"
  RS_TRY(recording::Manifest manifest, check_spool(options.spool));
  RecordSummary summary;
  RS_TRY(summary.out, recovered_out(options, manifest));
  manifest.spooled.reset();
  summary.not_recorded = read_tally(options.spool);
  RS_TRY_VOID(gather(recording::segments_of(options.spool), options.talk, summary));
  RS_TRY_VOID(describe(manifest, static_cast<int>(manifest.exit_status), summary));
  untie(options.spool, summary.out);
  if (summary.unreadable > 0)
    summary.notes.push_back(format("segments that could not be read are kept in {}", options.spool.string()));
  else
    remove_folder(options.spool);
  say(options.talk, summary_text(summary));
  return summary;
}

}  // namespace rankscope::collectors
