#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <tuple>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "recording/live/decoder.h"

namespace rankscope::recording {

namespace fs = std::filesystem;

/// A segment, and what was read of it so far.
struct Followed {
  LiveSegment segment;
  std::optional<LiveDecoder> decoder{};
  bool is_readable = true;
};

namespace {

/// On this host: its segments would be here, too. Another host may be called as this one, with "-2" behind it.
bool is_of_this_host(const SpoolMark& mark) {
  std::array<char, 256> host{};
  return gethostname(host.data(), host.size() - 1) == 0 &&
         mark.recorder.substr(0, mark.recorder.rfind('-')) == host.data();
}

bool is_alive(std::int64_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

/// A helper that has ended, such as a worker of a data loader: it will show nothing.
bool is_over_without_steps(const Followed& one) {
  if (!one.decoder || one.segment.behind() > 0) return false;
  const LiveProcess process = one.decoder->process(one.segment.counters());
  return process.steps == 0 && (process.ended || !is_alive(process.pid));
}

}  // namespace

struct LiveReader::State {
  fs::path recording;
  LiveLimits limits;
  std::map<fs::path, Followed> followed;
  std::set<fs::path> over;  // not followed any more

  void make_room();
  std::uint64_t find_segments(LiveView& view);
  void follow(Followed& one, std::uint64_t& budget);
};

void LiveReader::State::make_room() {
  if (followed.size() < limits.segments) return;
  std::erase_if(followed, [this](const auto& entry) {
    return is_over_without_steps(entry.second) && over.insert(entry.first).second;
  });
}

/// A process that begins to record itself is not watched from outside any more.
std::uint64_t LiveReader::State::find_segments(LiveView& view) {
  std::uint64_t left_out = 0;
  make_room();
  for (const SpoolMark& mark : spool_marks_of(recording)) {
    std::error_code error;
    if (!fs::is_directory(mark.spool, error)) {
      ++(is_of_this_host(mark) ? view.unreadable : view.elsewhere);
      continue;
    }
    const auto paths = segments_of(mark.spool);
    std::erase_if(followed, [&](const auto& entry) {
      const bool is_here = entry.first.parent_path() == mark.spool / outside_folder;
      return is_here && !paths.empty() && !std::ranges::binary_search(paths, entry.first);
    });
    for (const fs::path& path : paths) {
      if (over.contains(path)) continue;
      if (followed.size() < limits.segments)
        followed.try_emplace(path, Followed{LiveSegment{path}});
      else if (!followed.contains(path))
        ++left_out;
    }
  }
  return left_out;
}

void LiveReader::State::follow(Followed& one, std::uint64_t& budget) {
  one.is_readable = one.segment.poll(budget, [&](const LivePiece& piece) {
    if (!one.decoder) one.decoder.emplace(*one.segment.fixed(), limits);
    one.decoder->take(piece);
  });
  if (!one.is_readable) return;
  if (!one.decoder) one.decoder.emplace(*one.segment.fixed(), limits);
  one.decoder->settle();
  budget -= std::min(budget, one.segment.taken());
}

LiveReader::LiveReader(fs::path recording, LiveLimits limits)
    : state_(std::make_unique<State>(State{std::move(recording), limits, {}, {}})) {}
LiveReader::LiveReader(LiveReader&&) noexcept = default;
LiveReader& LiveReader::operator=(LiveReader&&) noexcept = default;
LiveReader::~LiveReader() = default;

LiveView LiveReader::poll() {
  LiveView view;
  view.left_out = state_->find_segments(view);
  std::uint64_t budget = state_->limits.bytes_per_poll;
  for (auto& [path, one] : state_->followed) {
    state_->follow(one, budget);
    if (!one.is_readable || one.segment.damaged()) ++view.unreadable;
    view.behind_bytes += one.segment.behind();
    if (one.decoder) view.processes.push_back(one.decoder->process(one.segment.counters()));
  }
  std::ranges::sort(view.processes, {}, [](const LiveProcess& process) {
    return std::tuple{static_cast<std::uint32_t>(process.rank), process.pid};  // -1 becomes the largest
  });
  return view;
}

}  // namespace rankscope::recording
