#include "importers/nsys/collectives.h"

#include <algorithm>
#include <map>

#include "importers/nsys/comm_rows.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr nanoseconds slack{1'000'000};        // metrics.md 5, K5: ends that agree within 1 ms
constexpr double fewest_in_operations = 0.95;  // below, a guessed group is given up (K5)
constexpr std::size_t fewest_members = 2;

using RowsOfRank = std::vector<CommRow*>;
using ByRank = std::map<RankId, RowsOfRank>;

/// Gives the rows of one group their sequence numbers by time: members of one operation overlap, because none may end
/// before all have begun. What a rank lacks, as at the edges of a window, then shifts nothing. Returns how many rows
/// lie in operations of all ranks.
class Aligning {
 public:
  explicit Aligning(ByRank& ranks) {
    for (auto& [rank, rows] : ranks) heads_.push_back({&rows, 0});
  }

  std::size_t run() {
    while (step()) ++sequence_;
    return in_operations_;
  }

 private:
  struct Head {
    RowsOfRank* rows;
    std::size_t next;
    [[nodiscard]] CommRow* row() const { return next < rows->size() ? (*rows)[next] : nullptr; }
  };

  bool step() {
    RunTime last_start = RunTime::min();
    bool all_present = true;
    for (const Head& head : heads_) {
      if (head.row() == nullptr)
        all_present = false;
      else
        last_start = std::max(last_start, head.row()->started());
    }
    if (last_start == RunTime::min()) return false;
    const bool complete = all_present && std::ranges::none_of(heads_, [&](const Head& head) {
                            return is_early(*head.row(), last_start);
                          });
    return complete ? take_all() : take_earliest();
  }

  static bool is_early(const CommRow& row, RunTime last_start) { return row.kernel->time.end + slack < last_start; }

  bool take_all() {
    for (Head& head : heads_) take(head);
    in_operations_ += heads_.size();
    return true;
  }

  /// The head that ends first cannot wait for the others any more; those that overlap it belong to it. No kernel ends
  /// before it begins, so that at least one head is taken.
  bool take_earliest() {
    RunTime end = RunTime::max();
    for (const Head& head : heads_)
      if (head.row() != nullptr) end = std::min(end, head.row()->kernel->time.end);
    for (Head& head : heads_)
      if (head.row() != nullptr && head.row()->started() <= end) take(head);
    return true;
  }

  void take(Head& head) const {
    head.row()->sequence = sequence_;
    ++head.next;
  }

  std::vector<Head> heads_;
  std::int64_t sequence_ = 0;
  std::size_t in_operations_ = 0;
};

bool equal_counts(const ByRank& ranks) {
  return std::ranges::all_of(ranks,
                             [&](const auto& rank) { return rank.second.size() == ranks.begin()->second.size(); });
}

class Grouping {
 public:
  Grouping(RunBuilder& builder, std::span<const FileCommunication> files, ClockReach clocks)
      : builder_(builder), clocks_(clocks) {
    for (const FileCommunication& file : files) {
      const std::vector<CommRow> rows = rows_of(builder, file);
      rows_.insert(rows_.end(), rows.begin(), rows.end());
      for (const Joined& joined : file.joined) {
        const auto rank = file.ranks.find(joined.process);
        if (rank != file.ranks.end()) members_[joined.communicator][joined.rank] = rank->second;
        size_of_[joined.communicator] = joined.ranks;
      }
    }
  }

  void run() {
    group_communicators();
    group_by_guess();
    for (const CommRow& row : rows_) add(row);
  }

 private:
  void group_communicators();
  std::vector<RankId> members_of(std::uint64_t communicator, const ByRank& ranks) const;
  void group_by_guess();
  [[nodiscard]] std::map<const CommRow*, std::size_t> places_of_streams() const;
  void add(const CommRow& row);

  RunBuilder& builder_;
  ClockReach clocks_;
  std::vector<CommRow> rows_;
  std::map<std::uint64_t, std::map<std::int64_t, RankId>> members_;  // communicator -> its rank -> ours
  std::map<std::uint64_t, std::int64_t> size_of_;
};

std::vector<RankId> Grouping::members_of(std::uint64_t communicator, const ByRank& ranks) const {
  std::vector<RankId> members;
  if (const auto joined = members_.find(communicator); joined != members_.end())
    for (const auto& [number, rank] : joined->second) members.push_back(rank);
  for (const auto& [rank, rows] : ranks)
    if (std::ranges::find(members, rank) == members.end()) members.push_back(rank);
  return members;
}

void Grouping::group_communicators() {
  std::map<std::uint64_t, std::pair<ByRank, ByRank>> by_communicator;  // all rows, and those that are no pairs
  for (CommRow& row : rows_) {
    if (!row.communicator) continue;
    auto& [all, collectives] = by_communicator[*row.communicator];
    all[row.rank].push_back(&row);
    if (!is_pair(row.op)) collectives[row.rank].push_back(&row);
  }
  for (auto& [communicator, rows] : by_communicator) {
    auto& [all, collectives] = rows;
    const std::vector<RankId> members = members_of(communicator, all);
    const auto size = size_of_.find(communicator);
    // Alone in the recording, but not in the job: a group of one would mean that nothing was communicated.
    if (members.size() < fewest_members && (size == size_of_.end() || size->second != 1)) continue;
    const GroupId group = builder_.add_group(format("communicator {:#x}", communicator), members);
    for (const auto& [rank, own] : all)
      for (CommRow* row : own) row->group = group;
    // Without a common clock they stay without numbers: their order is a guess that no clock may be set by.
    if (clocks_ == ClockReach::all_processes) Aligning(collectives).run();
  }
}

/// The how-many-eth stream with communication of its rank a row is on: PyTorch gives each communicator its own stream.
std::map<const CommRow*, std::size_t> Grouping::places_of_streams() const {
  std::map<RankId, std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>> streams;
  for (const CommRow& row : rows_) streams[row.rank].try_emplace(row.kernel->queue);
  for (auto& [rank, own] : streams) {
    std::size_t place = 0;
    for (auto& [queue, number] : own) number = place++;
  }
  std::map<const CommRow*, std::size_t> places;
  for (const CommRow& row : rows_) places[&row] = streams.at(row.rank).at(row.kernel->queue);
  return places;
}

/// "alltoall of all ranks, guessed"; operations and streams are numbered apart, so each needs a name of its own.
std::string guessed_name(std::string_view op, std::size_t place) {
  return format("{} of all ranks{}, guessed", op, place == 0 ? std::string{} : format(" ({})", place + 1));
}

void Grouping::group_by_guess() {
  const auto places = places_of_streams();
  std::map<std::pair<std::size_t, std::string_view>, ByRank> guesses;  // by stream and operation
  for (CommRow& row : rows_) {
    if (row.communicator) continue;
    if (!is_pair(row.op) && !row.op.empty()) guesses[{places.at(&row), row.op}][row.rank].push_back(&row);
  }
  for (auto& [key, ranks] : guesses) {
    if (ranks.size() < fewest_members) continue;
    std::size_t count = 0;
    std::vector<RankId> members;
    for (const auto& [rank, rows] : ranks) {
      members.push_back(rank);
      count += rows.size();
    }
    std::size_t in_operations = 0;
    if (clocks_ == ClockReach::all_processes)
      in_operations = Aligning(ranks).run();
    else if (equal_counts(ranks))
      in_operations = count;  // matched by their order, without numbers
    const bool trusted = static_cast<double>(in_operations) >= fewest_in_operations * static_cast<double>(count);
    const GroupId group = trusted ? builder_.add_group(guessed_name(key.second, key.first), members) : GroupId{};
    for (const auto& [rank, rows] : ranks)
      for (CommRow* row : rows) {
        row->group = group;
        if (!trusted) row->sequence = -1;
      }
  }
  const auto is_lost = [](const CommRow& row) { return !row.communicator && !row.group.is_set(); };
  builder_.quality().add(Counter::no_comm_args, static_cast<std::uint64_t>(std::ranges::count_if(rows_, is_lost)));
}

void Grouping::add(const CommRow& row) {
  const CommKernel& kernel = *row.kernel;
  std::int64_t peer = row.peer;
  if (row.communicator && peer >= 0) {
    const auto members = members_.find(*row.communicator);
    const auto known =
        members == members_.end() ? std::map<std::int64_t, RankId>::const_iterator{} : members->second.find(peer);
    const bool found = members != members_.end() && known != members->second.end();
    peer = found ? static_cast<std::int64_t>(known->second.value) : -1;
  }
  builder_.add_collective(
      {.rank = row.rank,
       .group = row.group,
       .op = builder_.intern(row.op.empty() ? std::string_view{"unknown"} : row.op),
       .dtype = row.dtype.empty() ? StringId::none() : builder_.intern(row.dtype),
       .sequence = row.sequence,
       .bytes = row.bytes,
       .peer = peer,
       .state = CommState::finished,
       .enqueued = kernel.launched ? std::min(kernel.launch.begin, kernel.time.begin) : kernel.time.begin,
       .started = kernel.time.begin,
       .finished = kernel.time.end,
       .lane = kernel.lane,
       .enqueued_on = kernel.thread,
       .span_ticket = row.owns_span ? kernel.ticket : 0xFFFFFFFF});
}

}  // namespace

void add_collectives(RunBuilder& builder, std::span<const FileCommunication> files, ClockReach clocks) {
  Grouping(builder, files, clocks).run();
}

}  // namespace rankscope::analyzer::nsys
