// State shared by the files of the recorder; nobody else includes this.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "inject/recorder/recorder.h"
#include "rankscope/core/recording/segment_writer.h"
#include "settings/inject_settings.h"
#include "settings/rank_environment.h"

namespace rankscope::inject {

/// Lives as long as the process: made once, never destroyed, since events may come after all destructors have run.
struct RecorderState {
  collectors::InjectSettings settings;
  std::atomic<bool> active{false};  ///< settings ask for a recording, and nothing has made it impossible
  const std::atomic<std::uint8_t>* recording_switch = nullptr;  ///< of --toggle; null without
  std::mutex mutex;  ///< guards everything below; never taken on the hot path
  std::uint64_t generation = 1;
  std::unique_ptr<recording::SegmentWriter> segment;
  std::atomic<recording::SegmentWriter*> published{nullptr};  ///< the same, for readers without the mutex
  bool housekeeping = false;
  collectors::RankEnvironment rank;  ///< if variables told it, a communicator does not overrule them
  bool described = false;            ///< the process' facts are written, by the first pen
  std::int32_t largest_communicator = 0;
  pthread_key_t thread_end{};
  std::array<std::atomic<std::uint64_t>, trouble_count> troubles{};
};
RecorderState& recorder_state();

/// Opens the segment if it is not; the mutex is held. False: impossible, recording is over for this process.
bool open_segment_locked(RecorderState& state);
/// A pen of the open segment for the calling thread; the first one writes the facts about the process.
std::unique_ptr<recording::ThreadWriter> make_pen_locked(RecorderState& state);
/// Starts the housekeeping thread if it does not run; counts a refusal, after which the next thread that records tries
/// again. The mutex is held.
void start_housekeeping_locked(RecorderState& state);
/// Writes the counters of trouble that changed since `written`.
void write_troubles(recording::ThreadWriter& pen, std::array<std::uint64_t, trouble_count>& written);

}  // namespace rankscope::inject
