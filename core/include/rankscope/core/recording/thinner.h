// Old events of a recording that is still made: thinned out, so that a job of days needs no more room than one of
// minutes. What a process did in each step stays as sums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include "rankscope/core/recording/live.h"
#include "rankscope/core/result.h"
#include "rankscope/core/time.h"

namespace rankscope::recording {

/// Follows one segment of a spool, and gives up its old chunks on request. Used by the recorder alone, from one thread.
class Thinner {
 public:
  /// When nothing more is reported about a step, and how much is kept until then.
  [[nodiscard]] static LiveLimits usual_limits();
  /// Sums go to a file of the same name in the folder "sums" beside the segment; both are made when there are any.
  explicit Thinner(std::filesystem::path segment, const LiveLimits& limits = usual_limits());
  Thinner(Thinner&&) noexcept;
  Thinner& operator=(Thinner&&) noexcept;
  ~Thinner();

  /// Reads what was written since the last call, `budget` bytes at most, and stores the sums of steps that are over.
  /// Returns how many bytes it read.
  std::uint64_t follow(std::uint64_t budget);
  /// What was written and not read yet by the last follow(), in bytes.
  [[nodiscard]] std::uint64_t behind() const;
  /// Nobody can write to the segment any more: chunks that its process did not seal may be given up, too.
  void note_end();
  /// False if the segment cannot be read on: it was replaced by a packed one, or removed.
  [[nodiscard]] bool is_there() const;

  /// A chunk that could be given up.
  struct Old {
    HostTime seen{};  ///< all of its events happened before
    std::uint64_t bytes = 0;
  };
  /// Adds those of this segment, without those that the last give_up() found in use.
  void add_old(std::vector<Old>& all) const;

  /// What may be given up where steps would be torn apart.
  enum class Steps : std::uint8_t {
    whole,  ///< only steps whose sums are stored; a few of the latest are kept
    any,    ///< everything that is old
  };
  struct GivenUp {
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
    bool is_all = true;  ///< false: more could be given up at once
  };
  /// Gives up chunks all of whose events happened before `until`, and hands them back to the process to write to again:
  /// the oldest ones, about `budget` bytes. Fails (`cannot_write`) if what stands for them cannot be stored; they are
  /// kept then. Fails (`unreadable`) if the segment is damaged.
  [[nodiscard]] Result<GivenUp> give_up(HostTime until, Steps steps, std::uint64_t budget = no_budget);
  static constexpr std::uint64_t no_budget = std::numeric_limits<std::uint64_t>::max();
  /// True if something was given up: then its steps need sums.
  [[nodiscard]] bool has_given_up() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::recording
