#include "rankscope/analyzer/blame/closer_look.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "alignment/aligned_run.h"
#include "collectives/comm_ops.h"
#include "collectives/last_to_arrive.h"
#include "rankscope/core/model/run.h"
#include "split/layers.h"
#include "split/rank_rows.h"

namespace rankscope::analyzer {
namespace {

class Look : public CloserLook {
 public:
  void add(RankId rank, Layers layers) { layers_.emplace(rank, std::move(layers)); }

  void add_waits(const Run& run, const ClockTrust& clocks, const Matching& matching) {
    waits_.resize(run.collectives().size());
    if (!matching.section) return;
    for (const Operation& operation : matching.section->operations) {
      if (!operation.why_no_wait.empty()) continue;
      const LastToArrive last_to_arrive{run, clocks, operation};
      const WaitRule rule = comm_op(run.text(operation.op)).wait;
      for (const std::uint32_t row : operation.members) {
        const std::int64_t wait_ns = matching.parts[row].wait_ns;
        const Collective& part = run.collectives()[row];
        const bool is_root = static_cast<std::int64_t>(part.rank.value) == part.peer;
        if (matching.parts[row].split)
          waits_[row] = {wait_ns, last_to_arrive.row(), last_to_arrive.is_fact(part, wait_ns),
                         row != last_to_arrive.row() && has_to_wait(rule, is_root)};
      }
    }
  }

  [[nodiscard]] TimeSplit split(RankId rank, TimeRange range) const override {
    const auto found = layers_.find(rank);
    if (found == layers_.end() || range.empty()) return {};
    return split_windows(found->second, std::array{range}).front();
  }

  [[nodiscard]] std::optional<MemberWait> wait_of(std::uint32_t row) const override {
    return row < waits_.size() ? waits_[row] : std::nullopt;
  }

 private:
  std::map<RankId, Layers> layers_;
  std::vector<std::optional<MemberWait>> waits_;  // by row
};

}  // namespace

std::shared_ptr<const CloserLook> CloserLook::at(const Run& recorded, const std::function<bool()>& stop) {
  if (stop()) return nullptr;
  const AlignedRun aligned{recorded};
  const Run& run = aligned.run();
  const Matching matching = match_collectives(run, aligned.clocks());
  const auto look = std::make_shared<Look>();
  look->add_waits(run, aligned.clocks(), matching);
  for (const RankId rank : run.ranks()) {
    if (stop()) return nullptr;
    look->add(rank, layers_of(run, rank, matching).layers);
  }
  return look;
}

}  // namespace rankscope::analyzer
