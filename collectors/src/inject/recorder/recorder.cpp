#include "inject/recorder/recorder.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "inject/recorder/environment.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder_state.h"
#include "rankscope/collectors/gpu_state.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "settings/inject_settings.h"
#include "settings/rank_environment.h"
#include "spool/recording_switch.h"
#include "spool/segment_names.h"
#include "spool/tally.h"

namespace rankscope::inject {
namespace {

// The segment file of this process: its name, and a tally for the launcher when it cannot be made.

struct OpenedSegment {
  std::unique_ptr<recording::SegmentWriter> writer{};  ///< null: it could not be made
  collectors::RankEnvironment rank{};
};

constexpr int most_execs = 100;  // images of one process that leave a segment each

std::string cpus_allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? std::to_string(CPU_COUNT(&cpus)) : std::string{};
}

/// The container that the process runs in; empty for none that is known of.
std::string container() {
  if (std::getenv("APPTAINER_CONTAINER") != nullptr) return "apptainer";
  if (std::getenv("SINGULARITY_CONTAINER") != nullptr) return "singularity";
  if (access("/.dockerenv", F_OK) == 0) return "docker";
  return access("/run/.containerenv", F_OK) == 0 ? "podman" : "";
}

/// Creates HOST-PID-START[-N].rseg in the settings' folder: pids repeat, and a process that calls exec keeps both.
OpenedSegment create_segment(const collectors::InjectSettings& settings) {
  const collectors::RankEnvironment rank = own_rank(settings);
  recording::SegmentOptions options{.path = {},
                                    .ring_kib = settings.ring_kib,
                                    .rank = rank.rank,
                                    .world_size = rank.world_size,
                                    .local_rank = rank.local_rank,
                                    .local_world_size = rank.local_world_size,
                                    .rank_source = rank.source};
  const std::string stem = collectors::segment_stem(getpid());
  for (int image = 0; image < most_execs; ++image) {
    const std::string suffix = image == 0 ? std::string{} : "-" + std::to_string(image);
    options.path = std::filesystem::path{settings.segments} / (stem + suffix + recording::segment_suffix);
    if (access(options.path.c_str(), F_OK) == 0) continue;
    auto created = recording::SegmentWriter::create(options);
    if (!created) return {};
    return {.writer = std::move(*created), .rank = rank};
  }
  return {};
}

/// Facts about the process that explain its speed; never the environment itself.
void describe_process(recording::ThreadWriter& pen, const collectors::InjectSettings& settings,
                      const collectors::RankEnvironment& rank) {
  pen.clock_pair();
  if (const std::string cpus = cpus_allowed(); !cpus.empty()) pen.metadata("cpus_allowed", cpus);
  if (const std::string name = container(); !name.empty()) pen.metadata("container", name);
  if (!rank.problem.empty()) pen.metadata("rank_problem", rank.problem);
  if (settings.window) {
    const collectors::StepWindow& window = *settings.window;
    pen.metadata("window", std::to_string(window.wait) + "," + std::to_string(window.warmup) + "," +
                               std::to_string(window.active) + "," + std::to_string(window.repeat));
  }
  if (settings.toggled != collectors::ToggledBy::nothing)
    pen.metadata("toggle", settings.toggled == collectors::ToggledBy::cuda ? "cuda" : "signal");
}

/// Tells the launcher that a process could not be recorded; works on a full disk.
void count_failed_segment(const collectors::InjectSettings& settings) { collectors::add_to_tally(settings.segments); }

ForkPage idle_page{{1}};  // until the settings are read, and where the kernel has no MADV_WIPEONFORK

alignas(RecorderState) unsigned char state_storage[sizeof(RecorderState)];

void make_fork_page() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    munmap(page, 4096);
    return;  // an old kernel: the handlers below see fork(), only a bare clone() stays unseen
  }
  fork_page.store(new (page) ForkPage{{1}}, std::memory_order_release);
}

void before_fork() { recorder_state().mutex.lock(); }
void after_fork_in_parent() {
  RecorderState& state = recorder_state();
  if (state.segment) state.segment->header().forks.fetch_add(1, std::memory_order_relaxed);
  state.mutex.unlock();
}

/// The child starts anew: its first event opens its own segment. The parent's is leaked, never touched.
void start_anew_in_child() {
  RecorderState& state = recorder_state();
  new (&state.mutex) std::mutex;
  if (auto* const of_parent = state.segment.release()) of_parent->leave_to_parent();
  state.published.store(nullptr);
  state.housekeeping = false;
  forget_quiet_threads();
  if (!state.settings.follow) state.active = false;
  if (slot.state != nullptr) slot.state->forget_parent();
  slot.generation = never_entered;
  generation().store(++state.generation);
}

void note_exit_status(int status, void*) {
  recording::SegmentWriter* const segment = recorder_state().published.load();
  if (segment == nullptr || generation().load() == 0) return;
  guarded([&] {
    // A thread without events gets no row of its own just for this.
    if (slot.state != nullptr && slot.generation == generation().load()) {
      std::array<std::uint64_t, trouble_count> written{};
      write_troubles(slot.state->pen(), written);
      slot.state->pen().clock_pair();
    }
    segment->note_exit(status);
  });
}

/// Runs after the destructors of thread_local objects, whose events are therefore still recorded. An event that comes
/// later still makes a new pen and arms the key again.
void release_thread(void* state) {
  auto* const ended = static_cast<ThreadState*>(state);
  if (slot.state == ended) slot = {nullptr, never_entered, false};
  guarded([&] { delete ended; });
}

void initialise_once() {
  RecorderState& state = *new (state_storage) RecorderState;
  state.settings = collectors::settings_from([](const char* name) { return std::getenv(name); });
  state.active = !state.settings.segments.empty() && owns_recording(state.settings);
  if (!state.active || pthread_key_create(&state.thread_end, release_thread) != 0) {
    state.active = false;
    return;
  }
  complete_environment(state.settings);
  make_fork_page();
  pthread_atfork(before_fork, after_fork_in_parent, start_anew_in_child);
  on_exit(note_exit_status, nullptr);
  if (state.settings.toggled == collectors::ToggledBy::signal)
    state.recording_switch = collectors::find_switch(state.settings.segments);
  if (state.recording_switch != nullptr) window_control.switch_to(state.recording_switch->load() == 1);
  if (state.settings.toggled == collectors::ToggledBy::cuda) window_control.switch_to(false);
  window_control.set(state.settings.window);
}

pthread_once_t once = PTHREAD_ONCE_INIT;

ThreadState* enter_locked(RecorderState& state) {
  const std::lock_guard lock(state.mutex);
  slot.generation = generation().load();
  if (!open_segment_locked(state)) return nullptr;
  start_housekeeping_locked(state);  // once more, if it was refused
  // Many threads may begin between two rounds of the housekeeping, and each takes a chunk.
  if (state.described) state.segment->make_room();
  auto pen = make_pen_locked(state);
  if (slot.state == nullptr) slot.state = new ThreadState;
  slot.state->give(std::move(pen));
  pthread_setspecific(state.thread_end, slot.state);
  return slot.state;
}

__attribute__((constructor)) void on_load() { initialise(); }

}  // namespace

constinit std::atomic<ForkPage*> fork_page{&idle_page};
constinit thread_local ThreadSlot slot{nullptr, never_entered, false};

RecorderState& recorder_state() { return *std::launder(reinterpret_cast<RecorderState*>(state_storage)); }

void initialise() noexcept {
  pthread_once(&once, [] { guarded([] { initialise_once(); }); });
}

bool collects(collectors::Source source) noexcept {
  initialise();
  return recorder_state().active && recorder_state().settings.collect.has(source);
}

collectors::DetailSet asked_details() noexcept {
  initialise();
  return recorder_state().settings.details;
}

collectors::NcclLevels asked_nccl_levels() noexcept {
  initialise();
  return recorder_state().settings.nccl;
}

collectors::GraphLevel asked_graph_level() noexcept {
  initialise();
  return recorder_state().settings.cuda_graphs;
}

double asked_budget() noexcept {
  initialise();
  return recorder_state().settings.budget;
}

bool is_toggled_by_cuda() noexcept {
  initialise();
  return recorder_state().settings.toggled == collectors::ToggledBy::cuda;
}

ThreadState* enter() noexcept {
  if (slot.entering) return nullptr;  // an event from inside our own slow path, or from a signal handler above it
  slot.entering = true;
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);  // open() below is a cancellation point
  initialise();
  if (generation().load() == 0) start_anew_in_child();
  ThreadState* found = nullptr;
  if (recorder_state().active) {
    found = guarded([] { return enter_locked(recorder_state()); });
  } else {
    slot.generation = generation().load();
  }
  // After a fork the old state has no pen; without a new one nothing may reach it.
  if (found == nullptr) slot.state = nullptr;
  pthread_setcancelstate(cancel_state, nullptr);
  slot.entering = false;
  return found;
}

void open_segment() noexcept { static_cast<void>(here()); }

bool open_segment_locked(RecorderState& state) {
  if (state.segment) return true;
  if (!state.active) return false;
  auto segment = create_segment(state.settings);
  if (!segment.writer) {
    state.active = false;
    count_failed_segment(state.settings);
    return false;
  }
  state.rank = std::move(segment.rank);
  state.described = false;
  state.segment = std::move(segment.writer);
  state.published.store(state.segment.get());
  start_housekeeping_locked(state);
  return true;
}

std::unique_ptr<recording::ThreadWriter> make_pen_locked(RecorderState& state) {
  auto pen = state.segment->thread();
  if (!std::exchange(state.described, true)) describe_process(*pen, state.settings, state.rank);
  return pen;
}

void learn_rank(std::int32_t rank, std::int32_t ranks) noexcept {
  RecorderState& state = recorder_state();
  guarded([&] {
    const std::lock_guard lock(state.mutex);
    if (!state.segment || state.rank.rank >= 0 || ranks <= state.largest_communicator || rank < 0 || rank >= ranks)
      return;
    state.largest_communicator = ranks;
    state.segment->learn_rank(rank, ranks);
  });
}

void ready_chunks() noexcept {
  RecorderState& state = recorder_state();
  guarded([&] {
    const std::lock_guard lock(state.mutex);
    if (state.segment) state.segment->refill();
  });
}

void count(Trouble trouble, std::uint64_t amount) noexcept {
  recorder_state().troubles[static_cast<std::size_t>(trouble)].fetch_add(amount, std::memory_order_relaxed);
}
void count_failed_source() noexcept {
  const bool missed =
      guarded([] { return recorder_state().settings.collect_named || collectors::host_devices().nvidia; });
  if (missed) count(Trouble::sources_failed);
}
void count_failure() noexcept { count(Trouble::calls_failed); }

void write_troubles(recording::ThreadWriter& pen, std::array<std::uint64_t, trouble_count>& written) {
  constexpr std::array<std::string_view, trouble_count> names{"payloads_undecoded",       "nvtx_ranges_interleaved",
                                                              "nvtx_ranges_too_deep",     "recorder_calls_failed",
                                                              "activities_dropped",       "activities_unknown",
                                                              "comm_events_dropped",      "sources_failed",
                                                              "pm_samples_dropped",       "pm_metrics_left_out",
                                                              "gpu_clocks_held",          "comm_groups_unknown",
                                                              "recorder_threads_refused", "calls_thinned"};
  for (std::size_t i = 0; i < trouble_count; ++i) {
    const std::uint64_t now = recorder_state().troubles[i].load(std::memory_order_relaxed);
    if (now == written[i]) continue;
    pen.metadata(names[i], std::to_string(now));
    written[i] = now;
  }
}

}  // namespace rankscope::inject
