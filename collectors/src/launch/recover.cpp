// What a killed recorder left behind: found, and gathered after all.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "dumps/flight_recorder.h"
#include "folders.h"
#include "gather.h"
#include "rankscope/collectors/spools.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/recording.h"
#include "spool/folder.h"
#include "spool/segment_names.h"
#include "spool/state.h"
#include "spool/tally.h"
#include "talk.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

std::uint64_t count_written(const std::vector<fs::path>& segments) {
  return static_cast<std::uint64_t>(std::ranges::count_if(segments, is_written));
}

std::uint64_t bytes_of(const std::vector<fs::path>& files) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

LeftKind kind_of(SpoolUse use) {
  if (use == SpoolUse::gathered) return LeftKind::gathered;
  return use == SpoolUse::empty ? LeftKind::empty : LeftKind::segments;
}

/// Nothing while its recorder runs, or may run on another host: it is in use then.
std::optional<LeftSpool> look_at(const fs::path& path) {
  const SpoolState state = state_of(path);
  if (state.use == SpoolUse::in_use || state.use == SpoolUse::elsewhere) return std::nullopt;
  LeftSpool left{.path = path, .kind = kind_of(state.use)};
  if (state.manifest) left.command = state.manifest->command;
  if (left.kind != LeftKind::segments || can_take(state.out(), path)) left.out = state.out();
  left.segments = state.segments.size();
  left.written = left.kind == LeftKind::empty ? processes_with(path) : count_written(state.segments);
  left.bytes = bytes_of(state.segments);
  return left;
}

/// One process at a time recovers a spool; the kernel takes the lock back with it.
class SpoolLock {
 public:
  explicit SpoolLock(const fs::path& spool) : folder_(open(spool.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_ < 0 || flock(folder_, LOCK_EX | LOCK_NB) == 0) return;
    close(folder_);
    folder_ = -1;
  }
  SpoolLock(const SpoolLock&) = delete;
  SpoolLock& operator=(const SpoolLock&) = delete;
  ~SpoolLock() {
    if (folder_ >= 0) close(folder_);
  }
  [[nodiscard]] bool held() const { return folder_ >= 0; }

 private:
  int folder_ = -1;
};

/// As an absolute path without a slash at its end. A spool that was done meanwhile is found by its former name.
fs::path whole_path(const fs::path& given) {
  fs::path spool = fs::absolute(given).lexically_normal();
  if (!spool.has_filename()) spool = spool.parent_path();
  std::error_code error;
  const fs::path done = spool.string() + done_suffix;
  return !fs::exists(spool, error) && fs::exists(done, error) ? done : spool;
}

Result<void> check_folder(const fs::path& spool) {
  std::error_code error;
  const std::string name = spool.string();
  if (!fs::is_directory(spool, error))
    return fail(ErrorKind::unreadable, format("--recover: folder {} does not exist", name));
  if (const auto owner = owner_of(spool); owner != geteuid())
    return fail(ErrorKind::unreadable,
                owner ? format("--recover: {} belongs to another user (uid {}), who must recover it", name, *owner)
                      : format("--recover: {} is a link; give the folder itself", name));
  return {};
}

/// By its manifest or its name; without both, a folder that has segments as a spool has them, not as a recording.
bool is_spool(const SpoolState& state) {
  if (state.manifest) return state.manifest->spooled.has_value();
  if (is_spool_name(state.path.filename().string())) return true;
  std::error_code error;
  return !state.segments.empty() && !fs::exists(state.path / recording::segment_folder, error);
}

tl::unexpected<Error> still_in_use(const SpoolState& state) {
  const std::string name = state.path.string();
  if (!state.manifest)
    return fail(ErrorKind::cannot_write,
                format("--recover: {} is less than a minute old and may belong to a recorder that is just starting; "
                       "try again later",
                       name));
  return fail(ErrorKind::cannot_write,
              format("--recover: the recorder of {} (process {}) is still running and will gather the segments itself",
                     name, state.manifest->spooled->recorder.pid));
}

Result<SpoolState> check_spool(const fs::path& spool) {
  SpoolState state = state_of(spool);
  const std::string name = spool.string();
  if (!is_spool(state))
    return fail(
        ErrorKind::unreadable,
        format("--recover: {} is not a folder that a recorder left behind; `rankscope doctor` lists such folders",
               name));
  if (state.use == SpoolUse::elsewhere)
    return fail(ErrorKind::cannot_write,
                format("--recover: {} belongs to a recorder on host {}, which may still be running; recover it there",
                       name, state.manifest->spooled->recorder.host));
  if (state.use == SpoolUse::in_use) return still_in_use(state);
  return state;
}

Result<void> check_all_ended(const SpoolState& state) {
  wait_for_stragglers(state.path);  // those that are just ending
  const auto running = count_written(recording::segments_of(state.path));
  if (running == 0) return {};
  return fail(ErrorKind::cannot_write,
              format("--recover: {} {} still writing to {}; wait until {}", counted(running, "recorded process"),
                     running == 1 ? "is" : "are", state.path.string(),
                     running == 1 ? "it ends, or stop it" : "they end, or stop them"));
}

/// Its recorder is gone, but the command may still start the processes that record.
Result<void> check_unused(const SpoolState& state) {
  const auto running = processes_with(state.path);
  if (running == 0) return {};
  return fail(ErrorKind::cannot_write,
              format("--recover: {} may still record into {}; wait until {}", counted(running, "process"),
                     state.path.string(), running == 1 ? "it ends, or stop it" : "they end, or stop them"));
}

/// What was gathered into a recording from this spool before the recorder was killed.
void take_back(const fs::path& out, const SpoolState& state) {
  std::error_code ignored;
  for (const fs::path& segment : state.segments)
    for (const char* ending : {"", ".part"})
      fs::remove(out / recording::segment_folder / (segment.filename().string() + ending), ignored);
  untie(state.path, out);
  remove_unused({.path = out});
}

/// From now on the spool belongs to another recording: whoever goes on after us gathers it into that one.
Result<void> move_to(const fs::path& out, SpoolState& state) {
  if (!state.manifest || state.out() == fs::absolute(out)) return {};
  const fs::path before = state.out();
  state.manifest->spooled->out = fs::absolute(out).string();
  RS_TRY_VOID(recording::write_manifest(state.path, *state.manifest));
  take_back(before, state);
  return {};
}

/// Whatever is wrong with the recording that the spool belongs to, another one can take its segments. The error about
/// a name that is taken (`usage`) says so already.
Error with_advice(Error error) {
  if (error.kind != ErrorKind::usage) error.message += "; choose another recording with --out";
  return error;
}

/// The folder that the killed recorder made is taken over; any other that exists is not touched.
Result<fs::path> recovered_out(const RecoverOptions& options, SpoolState& state) {
  fs::path wished = options.out.empty() ? state.out() : options.out;
  if (!wished.has_filename()) wished = wished.parent_path();
  if (wished.empty())
    return fail(ErrorKind::usage,
                format("--recover: {} does not say which recording it belongs to; give the recording with --out",
                       state.path.string()));
  for (const recording::SpoolMark& mark : recording::spool_marks_of(wished))
    if (mark.spool == state.path) return wished;
  if (can_take(wished, state.path)) RS_TRY_VOID(move_to(wished, state));
  RS_TRY(const OutFolder made, make_out_folder({.out = wished}, {}, state.path).map_error(with_advice));
  return made.path;
}

Result<RecordSummary> removed(const SpoolState& state, Talk talk) {
  RecordSummary summary{.out = state.out()};
  std::error_code error;
  if (!summary.out.empty() && fs::is_directory(summary.out, error)) {
    RS_TRY(std::string dumps, gather_dumps(state.path, summary.out));
    if (!dumps.empty()) summary.notes.push_back(std::move(dumps));
  }
  const std::string why = state.use == SpoolUse::empty ? std::string{"nothing was recorded in it"}
                          : summary.out.empty()        ? std::string{"nothing in it was still needed"}
                                                       : format("its segments are already in {}", summary.out.string());
  discard(state.path, summary.out);
  if (!summary.out.empty()) remove_unused({.path = summary.out});
  summary.notes.push_back(format("removed {}: {}", state.path.string(), why));
  say(talk, format("rankscope: {}\n", summary.notes.back()));
  return summary;
}

Result<RecordSummary> gather_left(const RecoverOptions& options, SpoolState& state) {
  RS_TRY_VOID(check_all_ended(state));
  RecordSummary summary;
  RS_TRY(summary.out, recovered_out(options, state));
  recording::Manifest manifest = state.manifest.value_or(new_manifest({}));
  manifest.spooled.reset();
  summary.not_recorded = read_tally(state.path);
  RS_TRY_VOID(gather(recording::segments_of(state.path), options.talk, summary));
  RS_TRY(std::string dumps, gather_dumps(state.path, summary.out));
  if (!dumps.empty()) summary.notes.push_back(std::move(dumps));
  RS_TRY_VOID(describe(manifest, static_cast<int>(manifest.exit_status), summary, state.path));
  discard(state.path, summary.out);
  say(options.talk, summary_text(summary));
  return summary;
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

Result<RecordSummary> recover(const RecoverOptions& options) {
  const fs::path spool = whole_path(options.spool);
  RS_TRY_VOID(check_folder(spool));
  const SpoolLock lock{spool};
  if (!lock.held())
    return fail(ErrorKind::cannot_write, format("--recover: {} is being recovered by another process", spool.string()));
  RS_TRY(SpoolState state, check_spool(spool));
  if (state.use == SpoolUse::empty) RS_TRY_VOID(check_unused(state));
  if (state.use != SpoolUse::left) return removed(state, options.talk);
  return gather_left(options, state);
}

}  // namespace rankscope::collectors
