#include "talk.h"

#include <cstdio>

#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "watcher.h"

namespace rankscope::collectors {
namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1'000'000) return format("{:.0f} kB", static_cast<double>(bytes) / 1e3);
  return format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string thinned_text(const RecordSummary& summary) {
  std::string text;
  if (summary.thinned > 0)
    text += format(
        "rankscope: removed {} while the command ran, as --keep or its default requires; sums for each step are kept\n",
        counted(summary.thinned, "older event"));
  if (summary.thinned_without_steps > 0)
    text += format(
        "rankscope: while the command ran, removed {} of processes without steps, as --keep or its default requires\n",
        counted(summary.thinned_without_steps, "older event"));
  if (summary.thinned_without_sums > 0)
    text += format("rankscope: lost {} whose steps have no sums: --keep was too small, or sums could not be stored\n",
                   counted(summary.thinned_without_sums, "older event"));
  return text;
}

}  // namespace

void say(Talk talk, std::string_view text) {
  if (talk == Talk::quiet) return;
  const bool redraws = text.starts_with('\r');  // a line of progress
  const std::string shown = (redraws ? "\r" : "") + printable_lines(text.substr(redraws ? 1 : 0));
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fflush(stderr);
}

std::string summary_text(const RecordSummary& summary) {
  std::string text = format("rankscope: recorded {}, {}, {}, {}, in {}\n", counted(summary.processes, "process"),
                            counted(summary.ranks, "rank"), counted(summary.events, "event"), size_text(summary.bytes),
                            summary.out.string());
  if (summary.events_dropped > 0 && summary.disk_refusals == 0) {
    text += format("rankscope: lost {}: the ring buffer was full; record with a larger --ring-kib\n",
                   counted(summary.events_dropped, "event"));
  }
  if (summary.events_dropped > 0 && summary.disk_refusals > 0) {
    text += format(
        "rankscope: lost {}: the folder in which segments are written was full, or a file-size limit was reached; set "
        "RANKSCOPE_SPOOL to a folder with more free space, or raise the limit (ulimit -f)\n",
        counted(summary.events_dropped, "event"));
  }
  text += thinned_text(summary);
  if (summary.not_recorded > 0) {
    text += format(
        "rankscope: {} could not be recorded: no segment file could be created; set RANKSCOPE_SPOOL to a writable "
        "folder with free space\n",
        counted(summary.not_recorded, "process"));
  }
  if (summary.not_watched > 0) {
    text += format(
        "rankscope: {} without events could not be sampled: there were more than {} at a time (more than {} if they "
        "have "
        "ranks), or no segment file could be created\n",
        counted(summary.not_watched, "process"), Watcher::most_watched, Watcher::most_with_ranks);
  }
  for (const std::string& note : summary.notes) text += "rankscope: " + note + "\n";
  return text;
}

}  // namespace rankscope::collectors
