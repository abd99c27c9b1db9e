// Who waits for whom: from ranks to the operations they are blocked in, and from operations to the ranks that block
// them. Ranks and operations that nothing leads away from are the roots; all others only suffer.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "importers/shared/comm_progress.h"

namespace rankscope::analyzer::hang {

/// Why a rank blocks an operation.
enum class Blocks : std::uint8_t {
  absent,   ///< it never called it
  unknown,  ///< nothing is known of it
  dead,     ///< its process ended first
  behind,   ///< it called it, but is blocked in an earlier one
};
struct Blocker {
  std::uint32_t rank = 0;
  Blocks how = Blocks::absent;
};

/// An operation that at least one rank is blocked in.
struct WaitedOperation {
  CommCall call{};                        ///< as the first of the waiting ranks made it
  std::vector<std::uint32_t> waiting{};   ///< blocked in it, ascending
  std::vector<Blocker> blockers{};        ///< ascending by rank
  std::vector<std::uint32_t> finished{};  ///< members that finished it
  std::vector<std::uint32_t> members{};   ///< of its group; of a send or receive the two ranks, the sender first
};

/// Ranks and operations that wait for nobody outside of them.
struct WaitRoot {
  std::vector<std::uint32_t> ranks{};       ///< ascending
  std::vector<std::uint32_t> operations{};  ///< rows of WaitGraph::operations()
};

class WaitGraph {
 public:
  explicit WaitGraph(const JobProgress& job);

  [[nodiscard]] std::span<const WaitedOperation> operations() const { return operations_; }
  [[nodiscard]] std::span<const WaitRoot> roots() const { return roots_; }
  /// Ranks whose device has not finished what their peers have: they wait for nobody.
  [[nodiscard]] bool is_behind_its_peers(std::uint32_t rank) const;
  /// The operation in which most ranks wait directly for this one; nothing if nobody does.
  [[nodiscard]] const WaitedOperation* most_waited_for(std::uint32_t rank) const;
  /// True if the first open call of the rank is a send or receive of its own and others come after it: it may have been
  /// posted long before (irecv), and the rank is blocked in a later one.
  [[nodiscard]] bool may_be_blocked_later(std::uint32_t rank) const;
  /// True of a collective that all members called, some of them maybe behind a send or receive that was only posted.
  [[nodiscard]] bool was_called_by_all(const WaitedOperation& operation) const;
  /// True if all other ranks that are known are blocked in other operations.
  [[nodiscard]] bool all_others_wait(const WaitedOperation& operation) const;

 private:
  /// A collective: group, sequence. A send or receive: group, -1, sender, receiver, number.
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  void find_behind();
  [[nodiscard]] bool a_peer_finished(const CommCall& call) const;
  void find_heads();
  void find_blockers(WaitedOperation& operation);
  void find_pair_blocker(const Key& key, WaitedOperation& operation);
  void find_roots();
  [[nodiscard]] Key key_of(std::uint32_t rank, const RankProgress& progress, const CommCall& call) const;
  [[nodiscard]] bool is_blocked_in(std::uint32_t rank, std::uint32_t operation) const;
  [[nodiscard]] const RankProgress* progress_of(std::uint32_t rank) const;

  const JobProgress& job_;
  std::vector<WaitedOperation> operations_;
  std::vector<Key> keys_;  // parallel to operations_
  std::map<Key, std::uint32_t> row_of_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> blocked_in_;  // rank -> operations
  std::map<std::uint32_t, std::vector<std::uint32_t>> blocks_;      // rank -> operations
  std::vector<std::uint32_t> behind_;                               // ascending
  std::vector<WaitRoot> roots_;
};

/// True for collectives that nobody can finish before all members have called them.
[[nodiscard]] bool needs_everyone(std::string_view op);

/// True if the process is known to have ended by itself or by a signal.
[[nodiscard]] bool has_ended(const RankProgress& progress);

}  // namespace rankscope::analyzer::hang
