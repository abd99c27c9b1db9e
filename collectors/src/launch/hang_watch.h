// --hang-after: notices from outside of the job's processes that no rank has moved for a while. Only what they have
// written is read, so that a step costs nothing more.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "own_commands.h"
#include "rankscope/collectors/record.h"
#include "rankscope/core/recording/live.h"

namespace rankscope::collectors {

/// Decides when a job has stood still for too long. Times are those of a steady clock.
class StandstillClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Before its first step a job may take at least this long: it loads libraries and data.
  static constexpr std::chrono::seconds patience_at_start{60};

  explicit StandstillClock(std::chrono::nanoseconds patience) : patience_(patience) {}
  /// True once for each standstill: no process with a rank has written an event for the time allowed.
  /// Never of a view that does not show everything: what is left out of it may move.
  [[nodiscard]] bool stands_still(const recording::LiveView& view, Time now);
  /// Starts anew: nothing was expected meanwhile, or the job was found to do well.
  void forget() { since_.reset(); }

 private:
  std::chrono::nanoseconds patience_;
  std::vector<std::uint64_t> seen_;
  std::optional<Time> since_;
  bool told_ = false;
};

/// Several recorders may watch one job: true for the one that wrote its name into the file first, or whose predecessor
/// on this host has ended.
[[nodiscard]] bool take_turn(const std::filesystem::path& path);

/// Where a process is that left a segment in the spool of this recorder.
enum class Whereabouts : std::uint8_t {
  here,     ///< it runs on this host under that number
  gone,     ///< it ran here, and has ended
  unknown,  ///< on another host, or in a container with numbers and a name of its own
};
/// By the names of the segments, which tell host, number and start: the number alone may mean another process by now.
[[nodiscard]] Whereabouts whereabouts_of(std::int64_t pid, const std::filesystem::path& spool);

/// Watches a recording while it lives; needs RecordOptions::judge_hang.
class HangWatch {
 public:
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  /// `records_now`: false while no events are expected, and so none are missed. `commands` starts what is run in a
  /// hang.
  HangWatch(const RecordOptions& options, std::filesystem::path out, std::filesystem::path spool,
            std::function<bool()> records_now, OwnCommands& commands);
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;
  ~HangWatch();

  /// Waits for a verdict that is being made; nothing is judged or started after this.
  void stop();
  /// For the manifest: what was found, and when; empty if the job never stood still.
  [[nodiscard]] Metadata metadata() const;

 private:
  void watch(const std::stop_token& stop);
  void look(recording::LiveReader& reader, StandstillClock& clock);
  void mark_gone(recording::LiveView& view) const;
  /// False: the job only pauses.
  bool report();
  /// On stderr, in the manifest and in the recording.
  void tell(const HangSeen& seen, const std::filesystem::path& folder);

  const RecordOptions& options_;
  std::filesystem::path out_;
  std::filesystem::path spool_;
  std::function<bool()> records_now_;
  OwnCommands& commands_;
  mutable std::mutex mutex_;
  Metadata metadata_;
  bool said_left_out_ = false;  ///< of the thread while it runs
  bool speaks_ = false;         ///< for all recorders of the job; of the thread while it runs
  std::jthread thread_;         // last: it uses all of the above
};

}  // namespace rankscope::collectors
