// A first look over the event tables of an export: which processes, devices and times they hold. Times count from the
// first event of all files, and lanes are named after the number of devices, so both must be known before any row is
// kept.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "importers/nsys/database.h"
#include "importers/nsys/ids.h"

namespace rankscope::analyzer::nsys {

/// A process that has at least one event.
struct SeenProcess {
  std::set<std::int64_t> devices{};  ///< CUDA ordinals inside the process that did any work
  std::set<std::string> tables{};    ///< in which it has events
  [[nodiscard]] bool uses_devices() const { return !devices.empty(); }
};

struct Census {
  std::map<ProcessKey, SeenProcess> processes{};
  /// Synchronization records can carry the wrong device (measured), but never the wrong context.
  std::map<std::pair<ProcessKey, std::int64_t>, std::int64_t> device_of_context{};
  std::optional<std::int64_t> first{};  ///< time of the first event, on the clock of the file
  std::optional<std::int64_t> last{};
  std::uint64_t unusable = 0;  ///< rows without a begin, or with one that no clock can have

  /// Whose rows are those of a table without a process column: of the only process, else of an unknown one.
  [[nodiscard]] ProcessKey default_process() const;
};

/// Fails if the file has no event table, or one of them is damaged.
[[nodiscard]] Result<Census> take_census(const Database& database);

/// True for times of events, which count from the start of the session: less than 18 years, so that sums and
/// differences with the clock of a host never overflow.
constexpr bool is_plausible(std::int64_t time) { return time > -(1LL << 59) && time < (1LL << 59); }
/// The same for clocks, which may count from 1970: until 2043.
constexpr bool is_plausible_clock(std::int64_t time) { return time > -(1LL << 61) && time < (1LL << 61); }

/// Tables that hold something in time but are not read: name and number of rows, for the user.
[[nodiscard]] std::string unread_tables(const Database& database);

}  // namespace rankscope::analyzer::nsys
