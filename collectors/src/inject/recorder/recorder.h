// The recorder inside a host program: one segment per process, opened at the first event, and with it the one
// housekeeping thread. A process without events gets neither: programs that must have a single thread work as ever.
#pragma once

#include <cstdint>
#include <string_view>

#include "inject/recorder/thread_state.h"

namespace rankscope::inject {

/// Reads the settings and installs the handlers; any number of calls, the first counts. The library's constructor and
/// every injection entry point call it, since other libraries' constructors may come before ours.
void initialise() noexcept;

/// True if this process was asked to record this source.
[[nodiscard]] bool collects(collectors::Source source) noexcept;

/// What the user asked for beside names and times.
[[nodiscard]] collectors::DetailSet asked_details() noexcept;

/// What the user wants to know of NCCL's operations.
[[nodiscard]] collectors::NcclLevels asked_nccl_levels() noexcept;

/// What the user wants to know of launches of CUDA graphs.
[[nodiscard]] collectors::GraphLevel asked_graph_level() noexcept;

/// How much longer recording may make a step: 0.01 for one hundredth; 0: there is no limit.
[[nodiscard]] double asked_budget() noexcept;

/// cudaProfilerStart and cudaProfilerStop switch the recording.
[[nodiscard]] bool is_toggled_by_cuda() noexcept;

/// Opens the segment as an event would (a process that initialises CUDA is recorded).
void open_segment() noexcept;

/// Readies room in the segment now: for who writes much at once, off the program's threads.
void ready_chunks() noexcept;

/// Rank and number of ranks of a communicator this process joined: the largest one tells who we are if no variable did.
void learn_rank(std::int32_t rank, std::int32_t ranks) noexcept;

/// What the library could not make sense of; written to the segment as metadata about once a second and at exit.
enum class Trouble : std::uint8_t {
  payloads_undecoded,
  ranges_interleaved,
  ranges_too_deep,
  calls_failed,
  activities_dropped,
  activities_unknown,
  comm_events_dropped,
  sources_failed,
  pm_samples_dropped,
  pm_metrics_left_out,
  gpu_clocks_held,
  comm_groups_unknown,
  threads_refused,
  calls_thinned,
};
inline constexpr std::size_t trouble_count = 14;
void count(Trouble trouble, std::uint64_t amount = 1) noexcept;
/// Counts a source that could not record, unless nobody asked for it by name and the host has no GPU to record.
void count_failed_source() noexcept;

}  // namespace rankscope::inject
