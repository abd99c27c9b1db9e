// What the training thread waited for when it waited for data (metrics.md 2.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Who loads the batches of a rank, as far as its recording tells.
enum class LoaderWorkers : std::uint8_t {
  recorded,         ///< threads whose work is in the recording
  none,             ///< the training thread loads them itself
  not_in_recording  ///< processes of their own, or nothing recorded what they do
};

/// Sums over the counted windows of one rank. With recorded workers all_busy + some_busy + none_busy = waiting.
struct DataLoadingRow {
  RankId rank;
  LoaderWorkers kind = LoaderWorkers::not_in_recording;
  std::int64_t steps = 0;  ///< 0: the whole recording
  std::int64_t window_ns = 0;
  std::int64_t waits = 0;  ///< that began in the windows
  std::int64_t waiting_ns = 0;
  std::int64_t workers = 0;           ///< recorded ones; of the other kinds 0
  std::int64_t all_busy_ns = 0;       ///< waiting time in which every worker was loading
  std::int64_t some_busy_ns = 0;      ///< ... in which at least one was, and at least one was not
  std::int64_t none_busy_ns = 0;      ///< ... in which none was
  std::int64_t batches = 0;           ///< that a worker began to load in the windows
  std::int64_t batches_ns = 0;        ///< whole length of loading these
  std::int64_t work_ns = 0;           ///< time of the windows in which workers load, all workers together
  std::optional<double> ready_ahead;  ///< batches that were loaded and not taken when a wait began: their mean
  std::string why_unknown;            ///< why nothing is told of workers, or of batches ready ahead; empty: all is told
};

/// How long each rank waits for its batches, and whether its workers can keep up.
struct DataLoadingSection {
  std::vector<DataLoadingRow> rows;  ///< by rank
};

/// Workers that would load batches as fast as the rest of the step takes them; nothing where that is not known.
[[nodiscard]] std::optional<std::int64_t> workers_needed(const DataLoadingRow& row);

}  // namespace rankscope::analyzer
