// The only way to make a Run. Mutable, single-threaded, used once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/model/clock_map.h"
#include "rankscope/core/model/concluded.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/core/secrets.h"

namespace rankscope {

/// A collective as an importer sees it; the builder finds the span's final row.
struct NewCollective {
  RankId rank{};
  GroupId group{};
  StringId op{};
  StringId dtype{};
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;
  std::int64_t peer = -1;
  CommState state = CommState::finished;
  RunTime enqueued{};
  RunTime started{};
  RunTime finished{};
  LaneId lane{};
  LaneId enqueued_on{};
  std::uint32_t span_ticket = 0xFFFFFFFF;  ///< from add_span; 0xFFFFFFFF = never started
};

/// Whether the processes of a part are more processes, or those that are here already, row by row.
enum class PartProcesses : std::uint8_t { new_rows, same_rows };

/// What became of the ids of a part that was absorbed, by their old value.
struct Absorbed {
  std::uint32_t first_span = 0;  ///< added to each span ticket
  std::vector<LaneId> lanes;
  std::vector<StringId> strings;
};

/// Collects rows in any order; build() sorts, links and freezes them. Ids of lanes, groups and spans that it hands out
/// are tickets: they are renumbered by build(). Strings lose their secrets here, unless they are wanted as recorded.
class RunBuilder {
 public:
  explicit RunBuilder(Texts texts = Texts::without_secrets);
  RunBuilder(const RunBuilder&) = delete;
  RunBuilder& operator=(const RunBuilder&) = delete;
  ~RunBuilder();

  RunInfo& info();
  Quality& quality();
  StringId intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const;
  /// The id of a string that intern() was given before, or none.
  [[nodiscard]] StringId find(std::string_view text) const;

  /// Returns the row to name in add_lane and add_sample; it can be changed through process() until build().
  std::uint32_t add_process(Process process);
  Process& process(std::uint32_t row);
  /// The lane's rank is that of its process.
  LaneId add_lane(std::uint32_t process, LaneKind kind, std::string_view name, std::int64_t number,
                  std::int32_t device = -1);
  void rename_lane(LaneId ticket, std::string_view name, LaneKind kind);
  /// end < begin is kept with length 0 and counted (negative_duration). A name that is not set (it was lost) becomes
  /// the empty one, so that every span and mark of a Run has a name. Returns a ticket for add_attribute.
  std::uint32_t add_span(LaneId lane, SpanKind kind, StringId name, TimeRange time, std::uint8_t flags = 0);
  /// Changes what an added span is; its time, name and attributes stay.
  void reclassify(std::uint32_t span_ticket, SpanKind kind, std::uint8_t flags);
  /// For what is met begin first; it has no length until it ends. Spans of a lane begun in order need no sorting.
  std::uint32_t begin_span(LaneId lane, SpanKind kind, StringId name, RunTime begin) {
    return add_span(lane, kind, name, {begin, begin});
  }
  void end_span(std::uint32_t ticket, RunTime end, std::uint8_t flags = 0);
  /// Cheapest for the span added last.
  void add_attributes(std::uint32_t span_ticket, std::span<const Attribute> attributes);
  void add_attribute(std::uint32_t span_ticket, StringId key, AttributeValue value);
  /// Returns a ticket for add_mark_attribute.
  std::uint32_t add_mark(LaneId lane, StringId name, RunTime time);
  void add_mark_attributes(std::uint32_t mark_ticket, std::span<const Attribute> attributes);
  void add_mark_attribute(std::uint32_t mark_ticket, StringId key, AttributeValue value);
  void add_link(LinkKind kind, std::uint32_t from_ticket, std::uint32_t to_ticket);
  void add_device(Device device);
  /// Groups of the same name and members are one.
  GroupId add_group(std::string_view name, std::span<const RankId> members);
  void add_collective(const NewCollective& collective);
  void add_sample(std::uint32_t process, StringId counter, RunTime time, double value);

  /// Moves all rows of a part that another thread collected to the end of those here; its RunInfo is dropped. Lanes
  /// that agree in process, kind, name, number and device become one. Tickets of the part are no longer valid.
  Absorbed absorb(RunBuilder&& part, PartProcesses processes);
  /// The same for a part whose process rows are those here from `first_process` on.
  Absorbed absorb_into(RunBuilder&& part, std::uint32_t first_process);

  // What was added so far, by ticket.
  [[nodiscard]] std::span<const Lane> lanes() const;
  [[nodiscard]] std::span<const Span> spans() const;
  [[nodiscard]] AttributeRange attributes_of(std::uint32_t span_ticket) const;
  /// Moves everything that belongs to a process in time; one entry per process.
  void shift(std::span<const nanoseconds> by_process);

  /// Fails with `unreadable` when there is no process, or no span, mark, collective or sample at all.
  [[nodiscard]] Result<std::shared_ptr<const Run>> build() &&;

  /// A copy of a run with the clock of each process read in run time; one entry per process. All rows keep their place
  /// (marks, which lie on a common axis, are sorted again).
  [[nodiscard]] static std::shared_ptr<const Run> retimed(const Run& run, std::span<const ClockMap> by_process);

  /// A copy of a run with more groups (`by_ends`), numbered behind its own, and with rows of collectives() that now
  /// belong to a group. These rows are sorted anew; all others keep their place.
  [[nodiscard]] static std::shared_ptr<const Run> regrouped(const Run& run, std::span<const NewGroup> added,
                                                            std::span<const Membership> memberships);

  /// The same for sends and receives that have found their partners.
  [[nodiscard]] static std::shared_ptr<const Run> paired(const Run& run, std::span<const NewGroup> added,
                                                         std::span<const Partner> partners);

  /// A copy of a run with one more process, which has no rank and no pid (Process::no_pid), and its lane. All rows keep
  /// their place; the new ones are behind them.
  [[nodiscard]] static std::shared_ptr<const Run> with_track(const Run& run, const NewTrack& track);

 private:
  StringId known(StringId name) { return name.is_set() ? name : intern({}); }

  struct Pending;
  class Absorption;
  std::shared_ptr<Run> run_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace rankscope
