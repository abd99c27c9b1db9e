#include "recording/decode/sources.h"

#include "rankscope/core/process_stat.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "recording/format/field_text.h"

namespace rankscope::recording {
namespace {

bool runs_here(std::string_view boot_of_process, std::int64_t pid, std::uint64_t start_ticks) {
  const std::string boot = boot_id();
  if (boot.empty() || boot_of_process != boot) return false;
  const auto stat = process_stat(static_cast<pid_t>(pid));
  if (!stat || stat->start_ticks_of_boot != start_ticks) return false;
  return (stat->state != 'Z' && stat->state != 'X') || stat->threads > 1;
}

/// Else it was killed, and what it left is to be recovered.
bool records_into(const std::filesystem::path& spool) {
  const auto manifest = read_manifest(spool);
  if (!manifest || !manifest->spooled) return false;
  const ProcessIdentity& recorder = manifest->spooled->recorder;
  return runs_here(recorder.boot_id, recorder.pid, recorder.start_ticks);
}

}  // namespace

Sources sources_of(const std::filesystem::path& recording) {
  Sources sources{recording, segments_of(recording)};
  if (!sources.segments.empty()) return sources;
  for (const SpoolMark& mark : spool_marks_of(recording)) {
    if (!records_into(mark.spool)) continue;
    const std::vector<std::filesystem::path> spooled = segments_of(mark.spool);
    if (!spooled.empty() && sources.segments.empty()) sources.manifest = mark.spool;
    sources.segments.insert(sources.segments.end(), spooled.begin(), spooled.end());
  }
  return sources;
}

bool still_runs(const SegmentFile& segment) {
  const SegmentStatic& fixed = segment.fixed;
  if (segment.counters.end != ProcessEnd::running) return false;
  return runs_here(field_text(fixed.boot_id), fixed.pid, fixed.start_ticks_of_boot);
}

}  // namespace rankscope::recording
