#include "importers/kineto/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "importers/kineto/collective_description.h"
#include "importers/kineto/decimal.h"
#include "importers/shared/comm_kernels.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::size_t most_enclosing = 64;
constexpr std::int64_t most_members = 1 << 20;

/// PyTorch writes the groups of NCCL's operations; no version writes those of other libraries.
Counter counter_without_group(std::string_view name) {
  const bool of_nccl = name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("mscclKernel");
  return of_nccl ? Counter::no_comm_args : Counter::comm_without_groups;
}

/// Groups of one file, and rows made of descriptions.
class Collectives {
 public:
  Collectives(const TraceFile& file, RankId rank, RunBuilder& run) : file_(file), rank_(rank), run_(run) {
    for (const std::uint32_t range : file.comm_ranges) ranges_.push_back(range);
    std::ranges::sort(ranges_, {}, [this](std::uint32_t range) {
      const Span& span = run_.spans()[range];
      return std::tuple{span.lane, span.time.begin, -span.time.end.time_since_epoch()};
    });
    for (const GroupConfig& group : file.metadata.groups)
      if (!group.ranks.empty()) run_.add_group(group.name, ids(group.ranks));
  }

  void add_kernel(std::uint32_t kernel, std::uint32_t call) {
    Description what;
    describe(run_, kernel, what);
    NewCollective row = row_of(kernel);
    if (call != no_call) {
      row.enqueued = std::min(run_.spans()[call].time.begin, row.started);
      row.enqueued_on = run_.spans()[call].lane;
      for (const std::uint32_t range : enclosing(call)) {
        describe(run_, range, what);
        // The range's own name is better than the kernel's: all-to-all runs as SendRecv.
        if (what.op.empty()) what.op = comm_op_from(run_.text(run_.spans()[range].name));
      }
    }
    finish(row, what);
  }

  /// A range that is the execution itself (gloo).
  void add_range(std::uint32_t range) {
    Description what;
    describe(run_, range, what);
    for (const std::uint32_t around : enclosing(range)) describe(run_, around, what);
    if (what.group.empty() && what.members.empty()) what.group = only_group();
    finish(row_of(range), what);
  }

  [[nodiscard]] std::vector<DescribedCollective> rows() && { return std::move(rows_); }

 private:
  [[nodiscard]] NewCollective row_of(std::uint32_t span) const {
    const Span& from = run_.spans()[span];
    NewCollective row;
    row.rank = rank_;
    row.enqueued = row.started = from.time.begin;
    row.finished = from.time.end;
    row.lane = from.lane;
    row.span_ticket = span;
    return row;
  }

  void finish(NewCollective row, Description& what) {
    if (what.op.empty()) what.op = comm_op_from(run_.text(run_.spans()[row.span_ticket].name));
    row.op = what.op.empty() ? run_.intern("communication") : run_.intern(what.op);
    if (!what.type.name.empty()) row.dtype = run_.intern(what.type.name);
    row.sequence = what.sequence;
    if (what.op == "send") row.peer = what.destination;
    if (what.op == "recv") row.peer = what.source;
    const std::vector<std::uint32_t> members = members_of(what);
    if (what.group_size < 0 && !members.empty()) what.group_size = static_cast<std::int64_t>(members.size());
    row.bytes = bytes_of(what);
    if (members.empty()) {
      run_.quality().add(counter_without_group(run_.text(run_.spans()[row.span_ticket].name)));
    } else {
      row.group = run_.add_group(what.group, ids(members));
    }
    const bool paired = what.op == "send" || what.op == "recv";
    if (paired && row.peer < 0 && what.partner >= 0 && std::cmp_less(what.partner, members.size()))
      row.peer = members[static_cast<std::size_t>(what.partner)];
    if (paired && what.sequence_from_inputs) row.sequence = -1;  // pairs are counted instead (metrics.md 5, K0)
    const bool named = is_rooted(what.op) && what.rank >= 0 && std::cmp_less(what.rank, members.size());
    if (named) row.peer = members[static_cast<std::size_t>(what.rank)];
    rows_.push_back({row, what.sequence_from_inputs, paired, named});
  }

  [[nodiscard]] std::vector<std::uint32_t> members_of(const Description& what) const {
    for (const GroupConfig& group : file_.metadata.groups)
      if (group.name == what.group && !group.ranks.empty()) return group.ranks;
    std::vector<std::uint32_t> members;
    const bool plausible = what.start >= 0 && what.start < most_ranks && what.stride > 0 && what.stride < most_ranks &&
                           what.group_size > 0 && what.group_size <= most_members;
    if (plausible && what.start + (what.group_size - 1) * what.stride < most_ranks) {
      for (std::int64_t i = 0; i < what.group_size; ++i)
        members.push_back(static_cast<std::uint32_t>(what.start + i * what.stride));
      return members;
    }
    if (what.members.find("...") != std::string::npos) return {};
    for_each_item(what.members, [&members](const Value& item) {
      const auto rank = integer_of(item.raw);
      if (rank && *rank >= 0 && *rank < most_ranks) members.push_back(static_cast<std::uint32_t>(*rank));
    });
    return members;
  }

  /// The name of the only group of the file that can communicate: an operation that names none was one of its. Empty if
  /// there are several.
  [[nodiscard]] std::string only_group() const {
    const auto can_communicate = [](const GroupConfig& group) { return group.ranks.size() > 1; };
    const auto& groups = file_.metadata.groups;
    if (std::ranges::count_if(groups, can_communicate) != 1) return {};
    return std::ranges::find_if(groups, can_communicate)->name;
  }

  static std::vector<RankId> ids(const std::vector<std::uint32_t>& ranks) {
    std::vector<RankId> result;
    for (const std::uint32_t rank : ranks) result.push_back(RankId{rank});
    return result;
  }

  /// Ranges around a call on its thread, innermost first.
  [[nodiscard]] std::vector<std::uint32_t> enclosing(std::uint32_t call) const {
    const Span& inner = run_.spans()[call];
    const auto behind =
        std::ranges::upper_bound(ranges_, std::tuple{inner.lane, inner.time.begin}, {}, [this](std::uint32_t range) {
          return std::tuple{run_.spans()[range].lane, run_.spans()[range].time.begin};
        });
    std::vector<std::uint32_t> around;
    auto at = behind;
    for (std::size_t looked = 0; at != ranges_.begin() && looked < most_enclosing; ++looked) {
      const Span& span = run_.spans()[*--at];
      if (span.lane != inner.lane) break;
      if (span.time.end > inner.time.begin) around.push_back(*at);
    }
    return around;
  }

  const TraceFile& file_;
  RankId rank_;
  RunBuilder& run_;
  std::vector<std::uint32_t> ranges_;  // by (lane, begin, -end)
  std::vector<DescribedCollective> rows_;
};

/// Where the numbers among the inputs do not count the operations of a group, on any rank, they are none: some process
/// groups write always the same one, coalesced operations share theirs, and some operations have none.
std::set<GroupId> groups_without_count(std::span<const DescribedCollective> rows) {
  std::map<std::pair<GroupId, RankId>, std::vector<std::pair<RunTime, std::int64_t>>> numbers;
  std::set<GroupId> asked;
  for (const DescribedCollective& described : rows) {
    const NewCollective& row = described.row;
    if (!row.group.is_set() || described.is_pair) continue;
    numbers[{row.group, row.rank}].emplace_back(row.enqueued, row.sequence);
    if (described.sequence_from_inputs) asked.insert(row.group);
  }
  std::set<GroupId> without;
  for (auto& [key, list] : numbers) {
    std::ranges::stable_sort(list, {}, &std::pair<RunTime, std::int64_t>::first);
    const bool counts = std::ranges::adjacent_find(list, std::ranges::greater_equal{},
                                                   &std::pair<RunTime, std::int64_t>::second) == list.end();
    if (asked.contains(key.first) && (!counts || list.front().second < 0)) without.insert(key.first);
  }
  return without;
}

/// Several ranks that each name themselves, and nobody else, as root do not name the root.
std::set<GroupId> groups_without_root(std::span<const DescribedCollective> rows) {
  std::map<GroupId, std::set<RankId>> selves;
  std::set<GroupId> others;
  for (const DescribedCollective& described : rows) {
    if (!described.names_root) continue;
    if (described.row.peer == static_cast<std::int64_t>(described.row.rank.value))
      selves[described.row.group].insert(described.row.rank);
    else
      others.insert(described.row.group);
  }
  std::set<GroupId> without;
  for (const auto& [group, ranks] : selves)
    if (ranks.size() > 1 && !others.contains(group)) without.insert(group);
  return without;
}

}  // namespace

std::vector<DescribedCollective> describe_collectives(const TraceFile& file, RankId rank,
                                                      std::span<const std::uint32_t> calls, RunBuilder& run) {
  Collectives collectives{file, rank, run};
  struct Source {
    std::uint32_t span;
    std::uint32_t call;
    bool is_kernel;
  };
  std::vector<Source> sources;
  for (std::size_t i = 0; i < file.comm_kernels.size(); ++i) sources.push_back({file.comm_kernels[i], calls[i], true});
  for (const std::uint32_t range : file.comm_ranges)
    if (run.spans()[range].kind == SpanKind::comm) sources.push_back({range, no_call, false});
  // By time and row, so that groups appear in the same order however the file was sorted.
  std::ranges::stable_sort(sources, {}, [&run](const Source& source) {
    return std::tuple{run.spans()[source.span].time.begin, source.is_kernel};
  });
  for (const Source& source : sources) {
    if (source.is_kernel)
      collectives.add_kernel(source.span, source.call);
    else
      collectives.add_range(source.span);
  }
  return std::move(collectives).rows();
}

void add_collectives(std::span<const DescribedCollective> rows, RunBuilder& run) {
  const std::set<GroupId> without_count = groups_without_count(rows);
  const std::set<GroupId> without_root = groups_without_root(rows);
  for (DescribedCollective described : rows) {
    NewCollective& row = described.row;
    if (described.sequence_from_inputs && (!row.group.is_set() || without_count.contains(row.group))) row.sequence = -1;
    if (described.names_root && without_root.contains(row.group)) row.peer = -1;
    run.add_collective(row);
  }
}

}  // namespace rankscope::analyzer::kineto
