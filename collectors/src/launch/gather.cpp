#include "gather.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <thread>

#include "folders.h"
#include "pytorch.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/live.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"
#include "rankscope/core/secrets.h"
#include "source_notes.h"
#include "spool/folder.h"
#include "spool/segment_names.h"
#include "talk.h"

#ifndef RANKSCOPE_VERSION
#define RANKSCOPE_VERSION "0"
#endif

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
constexpr std::chrono::seconds straggler_patience{2};
constexpr const char* unreadable_folder = "unreadable";

/// What the first page of a segment tells about loss and identity.
struct HeaderFacts {
  std::int32_t rank = -1;
  std::uint64_t refusals = 0;
};

HeaderFacts read_header(const fs::path& path) {
  using recording::SegmentHeader;
  std::array<char, sizeof(SegmentHeader)> page{};
  std::ifstream file{path, std::ios::binary};
  file.read(page.data(), page.size());
  if (!file) return {};
  const auto number = [&page]<class Number>(Number value, std::size_t offset) {
    std::memcpy(&value, page.data() + offset, sizeof value);
    return value;
  };
  HeaderFacts facts;
  facts.rank = number(std::int32_t{}, offsetof(SegmentHeader, fixed) + offsetof(recording::SegmentStatic, rank));
  if (facts.rank < 0) facts.rank = number(std::int32_t{}, offsetof(SegmentHeader, late_rank)) - 1;
  facts.refusals = number(std::uint64_t{}, offsetof(SegmentHeader, extents_refused));
  return facts;
}

/// True for the file of a process that has begun to record: one that died before that left only zeros.
bool was_begun(const fs::path& segment) {
  std::array<char, recording::segment_magic.size()> magic{};
  if (is_special_file(segment)) return false;
  std::ifstream file{segment, std::ios::binary};
  return file.read(magic.data(), magic.size()) && magic == recording::segment_magic;
}

/// Another tool, or a newer version, may still read it.
Result<fs::path> keep_unreadable(const fs::path& segment, const fs::path& out) {
  const fs::path folder = out / unreadable_folder;
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) fs::copy_file(segment, folder / segment.filename(), fs::copy_options::overwrite_existing, error);
  if (!error) return folder / segment.filename();
  return fail(ErrorKind::cannot_write,
              format("cannot copy {} to {}: {}", segment.string(), folder.string(), error.message()));
}

Result<void> note_unreadable(const fs::path& segment, const Error& why, RecordSummary& summary) {
  std::string note = why.message + "; the process that wrote this segment is missing from the recording";
  if (was_begun(segment)) {
    RS_TRY(const fs::path kept, keep_unreadable(segment, summary.out));
    note += format(", and the segment is kept as {}", kept.string());
  }
  summary.notes.push_back(std::move(note));
  ++summary.unreadable;
  return {};
}

using Fact = std::pair<std::string, std::string>;

DetailSet details_recorded(const std::vector<Fact>& metadata) {
  const auto found = std::ranges::find(metadata, recording::details_recorded_key, &Fact::first);
  return found == metadata.end() ? DetailSet{} : details_from(found->second);
}

/// Those of all processes.
void add_details(DetailSet recorded, recording::Manifest& manifest) {
  if (recorded.bits == 0) return;
  const auto known = std::ranges::find(manifest.metadata, recording::details_recorded_key, &Fact::first);
  if (known == manifest.metadata.end())
    manifest.metadata.emplace_back(recording::details_recorded_key, name_of(recorded));
  else
    known->second = recording::value_after(known->first, known->second, name_of(recorded));
}

/// The first process speaks for all; what is known already stays.
void add_metadata(const RecordSummary& summary, recording::Manifest& manifest) {
  for (const auto& entry : summary.metadata) {
    const auto known = std::ranges::find(manifest.metadata, entry.first, &Fact::first);
    if (known == manifest.metadata.end()) manifest.metadata.push_back(entry);
  }
}

/// A line on a terminal, now and then a line elsewhere; nothing if it is quick.
class Progress {
 public:
  Progress(Talk talk, std::size_t all) : talk_(talk), all_(all) {}
  void done(std::size_t count) {
    const auto now = steady_clock::now();
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (now < next_ || talk_ == Talk::quiet) return;
    next_ = now + (terminal ? std::chrono::milliseconds{100} : std::chrono::milliseconds{5000});
    shown_ = true;
    say(talk_, format("{}gathering {} of {} segments{}", terminal ? "\r" : "", count, all_, terminal ? "" : "\n"));
  }
  ~Progress() {
    if (shown_ && isatty(STDERR_FILENO) == 1) say(talk_, "\n");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  Talk talk_;
  std::size_t all_;
  steady_clock::time_point next_ = steady_clock::now() + std::chrono::seconds{1};
  bool shown_ = false;
};

}  // namespace

recording::Manifest new_manifest(const RecordOptions& options) {
  recording::Manifest manifest;
  manifest.created_by = "rankscope " RANKSCOPE_VERSION;
  manifest.command = scrub(options.shown_command.empty() ? options.command : options.shown_command);
  manifest.launcher = options.launcher.empty() ? guess_launcher(options.command) : options.launcher;
  manifest.world_size = options.world_size;
  manifest.metadata = options.metadata;
  const std::string asked = name_of(options.details);
  manifest.metadata.emplace_back(details_asked_key, asked.empty() ? "none" : asked);
  if (!options.collect.empty()) manifest.metadata.emplace_back("collect", options.collect);
  manifest.injected = options.injected;
  manifest.hosts = {host_name()};
  return manifest;
}

void wait_for_stragglers(const fs::path& spool) {
  const auto end = steady_clock::now() + straggler_patience;
  while (std::ranges::any_of(recording::segments_of(spool), is_written) && steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

recording::LiveView whole_view(const fs::path& recording) {
  recording::LiveReader reader{
      recording, {.segments = most_followed, .bytes_per_poll = std::numeric_limits<std::uint64_t>::max()}};
  return reader.poll();
}

bool any_step(const fs::path& recording) {
  const recording::LiveView view = whole_view(recording);
  return std::ranges::any_of(view.processes, [](const recording::LiveProcess& one) { return one.steps > 0; });
}

Result<void> gather(const std::vector<fs::path>& paths, Talk talk, RecordSummary& summary) {
  std::set<std::int32_t> ranks;
  std::vector<recording::RankEvidence> evidence;
  Progress progress{talk, paths.size()};
  std::size_t running = 0;
  std::optional<Error> failure;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto gathered =
        recording::gather_segment(paths[i], summary.out / recording::segment_folder / paths[i].filename());
    progress.done(i + 1);
    if (!gathered && gathered.error().kind == ErrorKind::unreadable) {
      const auto noted = note_unreadable(paths[i], gathered.error(), summary);
      if (!noted) failure = noted.error();
      continue;
    }
    if (!gathered) {
      failure = gathered.error();
      continue;
    }
    const HeaderFacts facts = read_header(paths[i]);
    if (facts.rank >= 0) ranks.insert(facts.rank);
    evidence.push_back(gathered->evidence);
    if (is_written(paths[i])) ++running;
    summary.processes += 1;
    summary.events += gathered->events;
    summary.bytes += gathered->bytes;
    summary.events_dropped += gathered->events_dropped;
    summary.thinned += gathered->events_thinned;
    summary.thinned_without_sums += gathered->events_without_sums;
    summary.thinned_without_steps += gathered->events_without_steps;
    summary.disk_refusals += facts.refusals;
    summary.world_size = std::max(summary.world_size, gathered->world_size);
    add_to_story(summary.sources, *gathered);
    summary.details.bits |= details_recorded(gathered->metadata).bits;
    learn_pytorch(summary.pytorch, gathered->metadata);
    if (summary.metadata.empty() || facts.rank == 0) summary.metadata = gathered->metadata;
  }
  summary.ranks = recording::only_rank(evidence) ? 1 : ranks.size();
  if (running > 0) {
    summary.notes.push_back(format("{} kept running after the command ended; events after that are not recorded",
                                   counted(running, "recorded process")));
  }
  if (failure) return tl::make_unexpected(*failure);
  return {};
}

Result<void> describe(const recording::Manifest& fresh, int status, const RecordSummary& summary,
                      const fs::path& spool) {
  const OutLock lock{summary.out};
  auto manifest = recording::read_manifest(summary.out).value_or(fresh);
  const std::string id = recording::spool_id(host_name(), spool);
  if (std::ranges::find(manifest.gathered, id) != manifest.gathered.end()) return {};
  manifest.gathered.push_back(id);
  for (const std::string& host : fresh.hosts)
    if (std::ranges::find(manifest.hosts, host) == manifest.hosts.end()) manifest.hosts.push_back(host);
  manifest.world_size = std::max(manifest.world_size, summary.world_size);
  add_metadata(summary, manifest);
  add_details(summary.details, manifest);
  manifest.exit_status = std::max<std::int64_t>(manifest.exit_status, status);
  recording::add_loss(manifest, Counter::processes_not_recorded, summary.not_recorded);  // siblings add up
  recording::add_loss(manifest, Counter::processes_not_watched, summary.not_watched);
  recording::add_loss(manifest, Counter::segments_unreadable, summary.unreadable);
  return recording::write_manifest(summary.out, manifest);
}

}  // namespace rankscope::collectors
