// The segment file of this process: its name, and a tally for the launcher when it cannot be made.
#pragma once

#include <memory>

#include "rankscope/core/recording/segment_writer.h"
#include "settings/inject_settings.h"

namespace rankscope::inject {

struct OpenedSegment {
  std::unique_ptr<recording::SegmentWriter> writer{};  ///< null: it could not be made
  collectors::RankEnvironment rank{};
};

/// Creates HOST-PID-START[-N].rseg in the settings' folder: pids repeat, and a process that calls exec keeps both.
OpenedSegment create_segment(const collectors::InjectSettings& settings);

/// Facts about the process that explain its speed; never the environment itself.
void describe_process(recording::ThreadWriter& pen, const collectors::InjectSettings& settings,
                      const collectors::RankEnvironment& rank);

/// Tells the launcher that a process could not be recorded; works on a full disk.
void count_failed_segment(const collectors::InjectSettings& settings);

}  // namespace rankscope::inject
