// Runs a command with the recorder in it.
#include "rankscope/collectors/record.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include "child_process.h"
#include "containers.h"
#include "dumps/flight_recorder.h"
#include "end_note.h"
#include "end_watch.h"
#include "environment.h"
#include "folders.h"
#include "gather.h"
#include "hang_watch.h"
#include "host/oom_kills.h"
#include "keeper.h"
#include "own_commands.h"
#include "pytorch.h"
#include "rankscope/collectors/gpu_state.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "rankscope/core/recording/tick_clock.h"
#include "settings/inject_settings.h"
#include "settings/record_settings.h"
#include "source_notes.h"
#include "spool/folder.h"
#include "spool/tally.h"
#include "talk.h"
#include "unrecorded.h"
#include "watch_over.h"
#include "watcher.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// Orphans of the command come to us while this lives, so that they are still seen as its processes.
class Subreaper {
 public:
  Subreaper() {
    prctl(PR_GET_CHILD_SUBREAPER, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Subreaper() { prctl(PR_SET_CHILD_SUBREAPER, before_); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int before_ = 0;
};

Result<KeepLimit> asked_limit(const RecordOptions& options) {
  return options.keep.empty() ? Result<KeepLimit>{KeepLimit{}} : keep_limit_from(options.keep);
}

Result<Toggle> make_toggle(const RecordOptions& options, const fs::path& spool) {
  Toggle toggle;
  RS_TRY(toggle.signal, toggle_signal_from(options.toggle));
  if (toggle.signal == 0) return toggle;
  RS_TRY(toggle.recording, RecordingSwitch::make(spool));
  say(options.talk, format("rankscope: not recording yet; kill -{} {} turns recording on\n", options.toggle, getpid()));
  return toggle;
}

/// True while events are expected: not after --duration, nor while --toggle has switched them off.
std::function<bool()> records_now(const Toggle& toggle, const InjectSettings& settings) {
  return [on = toggle.signal == 0 ? nullptr : toggle.is_on, until = settings.until_ns] {
    if (until != 0 && static_cast<std::int64_t>(recording::TickClock::now_monotonic()) > until) return false;
    return on == nullptr || on->load();
  };
}

/// OUT and the spool; both are removed again, as if nothing had been begun, unless they are kept.
struct Folders {
  explicit Folders(OutFolder made) : out{std::move(made)} {}
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  ~Folders() {
    if (kept) return;
    if (!spool.empty()) discard(spool, out.path);
    remove_unused(out);
  }

  OutFolder out;
  fs::path spool{};  ///< empty until it is made
  bool kept = false;
};

/// Says what was lost on the way into OUT; the spool is kept then, and knows how the command ended.
void keep_spool(const Error& error, const fs::path& spool, RecordOutcome& outcome) {
  if (auto manifest = recording::read_manifest(spool)) {
    manifest->exit_status = outcome.status;
    static_cast<void>(recording::write_manifest(spool, *manifest));  // else it stays unknown
  }
  outcome.summary.notes.push_back(error.message);
  outcome.summary.notes.push_back(
      format("the recording is incomplete; the remaining segments are kept in {}: solve the problem (for example, free "
             "some space), then run `rankscope record --recover {}`",
             spool.string(), spool.string()));
  if (outcome.status == 0) outcome.status = status_recorder_failed;
}

/// Processes that could not be recorded, sampled or read are reported as such, not as absent.
void note_absence(const InjectSettings& settings, RecordSummary& summary) {
  const auto failed = summary.not_recorded + summary.not_watched + summary.unreadable;
  if (summary.processes > 0 || failed > 0) return;
  summary.notes.emplace_back(
      settings.collect.has(Source::host)
          ? "nothing was recorded: no process reported events to the recorder through CUDA, NCCL, NVTX, PyTorch or the "
            "annotation API, and no process ran for at least 1 s (0.2 s if the process has a rank)"
          : "nothing was recorded: no process reported events to the recorder through CUDA, NCCL, NVTX, PyTorch or the "
            "annotation API");
}

/// What was asked for is never left out silently.
void note_details(DetailSet asked, RecordSummary& summary) {
  for (const DetailInfo& info : details()) {
    if (!asked.has(info.detail) || summary.details.has(info.detail)) continue;
    std::string note = format(
        "--{}: no {} were recorded, because no recorded process supports this option. The reference trainer and "
        "programs that use the annotation API support it; PyTorch programs do not",
        info.id, info.what);
    if (info.detail == Detail::memory) note += ". In programs that use CUDA, the source cupti records allocations, too";
    summary.notes.push_back(std::move(note));
  }
}

/// What the command was started with, and what is known of it from outside.
struct Conditions {
  InjectSettings settings;
  SourceSet lost{};                  ///< to other tools
  NeededInside needed{};             ///< by a container
  bool container_explained = false;  ///< why it cannot be recorded
  std::string stopped_by{};          ///< "SIGINT", if the job was asked to end
  std::int64_t stopped_at_unix_ns = 0;
  std::vector<ProcessEnd> ends{};                                ///< of recorded processes, the first one first
  std::vector<std::pair<std::string, std::string>> hang_seen{};  ///< for the manifest
  std::string oom_kills{};                                       ///< while the command ran
};

void note_sources(const RecordOptions& options, const Conditions& conditions, RecordSummary& summary) {
  if (summary.processes == 0) return;
  SourceSet asked{conditions.settings.collect.bits & ~conditions.lost.bits};
  if (options.gpus == Gpus::not_used) asked = {};
  for (std::string& note : source_notes(asked, summary, host_devices(options.host_root)))
    summary.notes.push_back(std::move(note));
}

void note_container(const RecordOptions& options, const Conditions& conditions, RecordSummary& summary) {
  const std::string runtime = container_runtime(options.command);
  if (runtime.empty() || conditions.container_explained || summary.sources.contained > 0) return;
  summary.notes.push_back(container_note(runtime, conditions.needed));
}

/// What the processes of the recording had done when they ended; nothing of a command that ended well.
std::vector<RankEnd> ends_of_ranks(const Conditions& conditions, const RecordOutcome& outcome) {
  if (outcome.status == 0 || conditions.ends.empty()) return {};
  const nanoseconds unix_minus_host =
      std::chrono::system_clock::now().time_since_epoch() - nanoseconds{recording::TickClock::now_monotonic()};
  return bad_ends(conditions.ends, whole_view(outcome.summary.out), unix_minus_host);
}

RecordOutcome finish(const RecordOptions& options, const Conditions& conditions, Folders& folders, Watcher& watcher,
                     RecordOutcome outcome) {
  const InjectSettings& settings = conditions.settings;
  const OutFolder& out = folders.out;
  const fs::path& spool = folders.spool;
  outcome.summary.out = out.path;
  outcome.summary.not_recorded = read_tally(spool);
  wait_for_stragglers(spool);
  watcher.finish(outcome.status);
  if (outcome.status == options.refusal_status && !any_step(out.path)) {
    folders.kept = false;
    return outcome;
  }
  outcome.summary.not_watched = watcher.not_watched();
  auto gathered = gather(recording::segments_of(spool), options.talk, outcome.summary);
  const std::vector<RankEnd> ends = ends_of_ranks(conditions, outcome);
  add_ends(ends, conditions.oom_kills, outcome.summary);
  if (!conditions.stopped_by.empty()) {
    outcome.summary.metadata.emplace_back("stopped_by", conditions.stopped_by);
    outcome.summary.metadata.emplace_back("stopped_at_unix_ns", std::to_string(conditions.stopped_at_unix_ns));
  }
  auto dumps = gather_dumps(spool, out.path);
  if (dumps && !dumps->empty()) outcome.summary.notes.push_back(*dumps);
  if (gathered && !dumps) gathered = tl::unexpected<Error>{dumps.error()};
  for (const auto& fact : conditions.hang_seen) outcome.summary.metadata.push_back(fact);
  if (gathered) gathered = describe(new_manifest(options), outcome.status, outcome.summary, spool);
  if (gathered) {
    discard(spool, out.path);
    note_absence(settings, outcome.summary);
  } else {
    keep_spool(gathered.error(), spool, outcome);
  }
  if (settings.toggled == ToggledBy::cuda && outcome.summary.sources.started == 0)
    outcome.summary.notes.emplace_back(
        "--toggle cuda: no call to cudaProfilerStart was seen, so no events were recorded; only the source cupti sees "
        "such calls: check that --collect includes cupti and that the program calls cudaProfilerStart");
  note_container(options, conditions, outcome.summary);
  note_sources(options, conditions, outcome.summary);
  note_details(settings.details, outcome.summary);
  if (options.pytorch != PyTorch::left_out && outcome.summary.processes > 0)
    note_pytorch(outcome.summary.pytorch, options.pytorch, outcome.summary.notes);
  if (std::string note = end_note(outcome.status, conditions.stopped_by, ends, conditions.oom_kills); !note.empty())
    outcome.summary.notes.push_back(std::move(note));
  say(options.talk, summary_text(outcome.summary));
  return outcome;
}

/// LD_PRELOAD is split at spaces and colons, so that a library in such a folder needs another name.
Result<fs::path> preloadable(const fs::path& library, const fs::path& spool) {
  if (library.string().find_first_of(" :") == std::string::npos) return library;
  const fs::path link = spool / inject_library_name;
  std::error_code error;
  fs::create_symlink(library, link, error);
  if (error)
    return fail(ErrorKind::cannot_write, format("cannot create the link {}: {}", link.string(), error.message()));
  if (link.string().find_first_of(" :") == std::string::npos) return link;
  return fail(ErrorKind::cannot_write, format("the paths {} and {} both contain a space or a colon; set "
                                              "RANKSCOPE_SPOOL to a folder whose path contains neither",
                                              library.string(), spool.string()));
}

}  // namespace

Result<fs::path> find_inject_library() {
  std::error_code error;
  if (const char* const named = std::getenv(variable::library); named != nullptr && *named != '\0') {
    if (fs::is_regular_file(named, error)) return fs::absolute(named);
    return fail(ErrorKind::cannot_write,
                format("{} is {}, which is not a file; set it to the path of librankscope_inject.so, or unset it",
                       variable::library, named));
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& beside : {folder, folder.parent_path() / "lib", folder.parent_path() / "bin"}) {
    if (fs::is_regular_file(beside / inject_library_name, error)) return beside / inject_library_name;
  }
  return fail(ErrorKind::cannot_write,
              format("{0} is not in {1}, nor in the folders lib and bin of {2}; set {3} to the path of {0}",
                     inject_library_name, folder.string(), folder.parent_path().string(), variable::library));
}

namespace {

/// Adds what of `needed` a container will hide, and why PyTorch is not recorded, to the warnings, and shows them all.
/// Returns what was said about the container; empty if it hides nothing.
std::string warn(const RecordOptions& options, const InjectSettings& settings, const PyTorchHook& hook,
                 const NeededInside& needed, const Lookup& lookup, CommandEnvironment& environment) {
  std::string unseen = container_warning(options.command, lookup, needed);
  if (!unseen.empty()) {
    environment.warnings.push_back(unseen);
  } else if (settings.follow && !hook.folder.empty()) {
    const std::string replaced = pytorch_container_warning(container_runtime(options.command), lookup);
    if (!replaced.empty()) environment.warnings.push_back(replaced);
  }
  if (!hook.why_not.empty()) environment.warnings.push_back(hook.why_not);
  for (const std::string& warning : environment.warnings) say(options.talk, "rankscope: " + warning + "\n");
  return unseen;
}

/// What the summary says beside its figures.
std::vector<std::string> notes_on(const CommandEnvironment& environment, const Keeper& keeper, const Toggle& toggle,
                                  const RecordOptions& options) {
  std::vector<std::string> notes = environment.warnings;
  if (std::string problem = keeper.problem(); !problem.empty()) notes.push_back(std::move(problem));
  if (toggle.signal != 0 && !toggle.was_on)
    notes.push_back(
        format("--toggle {0}: SIG{0} was never received, so no events were recorded; send it to rankscope while the "
               "command runs",
               options.toggle));
  return notes;
}

/// `dumps`: where PyTorch writes them; empty where the recorder cannot see them.
void add_flight_recorder(const RecordOptions& options, const Lookup& lookup, const fs::path& dumps,
                         CommandEnvironment& environment) {
  if (options.pytorch != PyTorch::expected) return;
  for (auto& variable : flight_recorder_variables(lookup, dumps)) environment.variables.push_back(std::move(variable));
}

/// An error means that the command was not started.
Result<RecordOutcome> record_command(const RecordOptions& options, InjectSettings settings) {
  const SizeSignalIgnored size_signal;
  RS_TRY(fs::path library,
         options.library.empty() ? find_inject_library() : Result<fs::path>{fs::absolute(options.library)});
  RS_TRY(OutFolder out, make_out_folder(options, job_identity()));
  Folders folders{std::move(out)};
  RS_TRY(folders.spool, make_spool_folder());
  const fs::path& spool = folders.spool;
  RS_TRY_VOID(check_room(spool, options.ring_kib));
  settings.segments = spool.string();
  if (options.preload == Preload::yes) {
    RS_TRY(library, preloadable(library, spool));
  }
  if (!make_tally(spool)) return fail(ErrorKind::cannot_write, format("cannot write into {}", spool.string()));
  RS_TRY(Toggle toggle, make_toggle(options, spool));
  RS_TRY_VOID(tie(spool, new_manifest(options), folders.out.path));
  if (options.talk == Talk::verbose) {
    say(options.talk, format("rankscope: segments are in {} until the recording ends\n", spool.string()));
  }
  const Lookup lookup = [](const char* name) { return std::getenv(name); };
  RS_TRY(const PyTorchHook hook, pytorch_hook(options, settings.collect, spool, lookup));
  auto environment = command_environment(lookup, settings, library.string(), options.preload, hook.folder);
  const NeededInside needed{library, spool};
  const std::string unseen = warn(options, settings, hook, needed, lookup, environment);
  add_flight_recorder(options, lookup, unseen.empty() ? spool : fs::path{}, environment);
  RS_TRY(const KeepLimit asked, asked_limit(options));
  const KeepLimit keep = limit_on_this_node(asked, spool);
  const OomKills oom_kills_before = oom_kills_so_far(options.host_root);
  const Subreaper subreaper;
  SignalRelay signals{size_signal};
  // From here on a reader that is gone does not end the recorder.
  if (const std::string sentence = sentence_on(keep, asked); !sentence.empty()) say(options.talk, sentence);
  RS_TRY(const auto child, start_command(options.command, environment.variables, signals));
  if (child.error != 0) {
    static_cast<void>(reap(child.process));
    return not_started(options, child.error);
  }
  folders.kept = true;
  EndWatch end_watch{spool};
  OwnCommands own_commands;
  Watcher watcher{spool, child.process, settings.rank_env,
                  [&own_commands](pid_t process) { return own_commands.has(process); }};
  std::optional<HangWatch> hangs;
  if (options.hang_after_s > 0 && options.judge_hang)
    hangs.emplace(options, folders.out.path, spool, records_now(toggle, settings), own_commands);
  Keeper keeper{spool, keep, asked == KeepLimit{} ? Keeper::Asked::by_nobody : Keeper::Asked::by_the_user};
  RecordOutcome outcome{.status = watch_over({child.process, signals},
                                             {watcher, end_watch, EndedSegments{spool}, keeper, settings}, toggle,
                                             options.talk)};
  if (hangs) hangs->stop();
  keeper.finish();
  outcome.summary.notes = notes_on(environment, keeper, toggle, options);
  std::vector<ProcessEnd> ends = end_watch.finish();
  std::string oom_kills = oom_kills_between(oom_kills_before, oom_kills_so_far(options.host_root));
  return finish(
      options,
      {settings, environment.lost, needed, !unseen.empty(), signals.stopped_by(), signals.stopped_at_unix_ns(),
       std::move(ends), hangs ? hangs->metadata() : HangWatch::Metadata{}, std::move(oom_kills)},
      folders, watcher, std::move(outcome));
}

}  // namespace

Result<RecordOutcome> run_recorded(const RecordOptions& options) {
  RS_TRY_VOID(check_options(options));
  RS_TRY(const InjectSettings settings, inject_settings_from(options));
  RS_TRY_VOID(toggle_signal_from(options.toggle));
  RS_TRY_VOID(asked_limit(options));
  auto outcome = record_command(options, settings);
  const bool prevented = !outcome && outcome.error().kind == ErrorKind::cannot_write;
  if (!prevented || options.otherwise == Otherwise::fail) return outcome;
  return run_unrecorded(options, outcome.error());
}

}  // namespace rankscope::collectors
