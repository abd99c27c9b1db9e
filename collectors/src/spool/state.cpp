#include "state.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "folder.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/recording.h"
#include "settings/inject_settings.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// A recorder makes the folder and then writes its manifest, which takes milliseconds.
constexpr std::chrono::minutes longest_making{1};

bool is_being_made(const fs::path& spool) {
  std::error_code error;
  const auto changed = fs::last_write_time(spool, error);
  return !error && fs::file_time_type::clock::now() - changed < longest_making;
}

bool has_mark(const fs::path& out, const fs::path& spool) {
  return std::ranges::any_of(recording::spool_marks_of(out),
                             [&spool](const recording::SpoolMark& mark) { return mark.spool == spool; });
}

bool is_listed(const SpoolState& spool, const recording::Manifest& of_out) {
  const std::string id = recording::spool_id(spool.manifest->spooled->recorder.host, spool.path);
  return std::ranges::find(of_out.gathered, id) != of_out.gathered.end();
}

/// Recorders before format 1.4 did not list what they gathered: they took the mark away, and then the segments.
bool holds_all_of(const fs::path& out, const std::vector<fs::path>& segments) {
  return !segments.empty() && std::ranges::all_of(segments, [&out](const fs::path& segment) {
    std::error_code error;
    return fs::exists(out / recording::segment_folder / segment.filename(), error);
  });
}

bool is_gathered(const SpoolState& spool) {
  const fs::path out = spool.out();
  if (out.empty()) return false;
  const auto of_out = recording::read_manifest(out);
  if (!of_out) return false;
  return is_listed(spool, *of_out) || (!has_mark(out, spool.path) && holds_all_of(out, spool.segments));
}

SpoolUse use_of(const SpoolState& spool) {
  if (is_done(spool.path)) return SpoolUse::gathered;
  if (spool.manifest && spool.manifest->spooled) {
    if (is_elsewhere(spool.manifest->spooled->recorder)) return SpoolUse::elsewhere;
    if (is_running(spool.manifest->spooled->recorder)) return SpoolUse::in_use;
  }
  if (!spool.manifest && spool.segments.empty() && is_being_made(spool.path)) return SpoolUse::in_use;
  if (is_gathered(spool)) return SpoolUse::gathered;
  return spool.segments.empty() ? SpoolUse::empty : SpoolUse::left;
}

}  // namespace

fs::path SpoolState::out() const {
  return manifest && manifest->spooled ? fs::path{manifest->spooled->out} : fs::path{};
}

SpoolState state_of(const fs::path& spool) {
  SpoolState state{.path = spool};
  if (auto manifest = recording::read_manifest(spool)) state.manifest = std::move(*manifest);
  state.segments = recording::segments_of(spool);
  state.use = use_of(state);
  return state;
}

std::uint64_t processes_with(const fs::path& spool) {
  const std::string entry = format("{}={}", variable::segments, spool.string());
  std::uint64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator process{"/proc", error}, end; !error && process != end; process.increment(error)) {
    std::ifstream file{process->path() / "environ", std::ios::binary};
    bool has_it = false;
    for (std::string text; std::getline(file, text, '\0') && !has_it;) has_it = text == entry;
    count += has_it ? 1U : 0U;
  }
  return count;
}

bool can_take(const fs::path& out, const fs::path& spool) {
  std::error_code error;
  if (has_mark(out, spool)) return true;
  const fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path{"."};
  return !fs::exists(fs::symlink_status(out, error)) && access(parent.c_str(), W_OK | X_OK) == 0;
}

}  // namespace rankscope::collectors
