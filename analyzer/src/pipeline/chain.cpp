#include "pipeline/steps.h"

#include <cmath>
#include <map>
#include <optional>

namespace rankscope::analyzer {
namespace {

struct Node {
  std::size_t place = 0;
  std::size_t at = 0;
};

class Chain {
 public:
  Chain(const MarkedPipeline& pipeline, const PipelineStep& step) : step_(step) {
    const auto places = static_cast<std::int32_t>(step.places.size());
    for (std::size_t place = 0; place < step.places.size(); ++place) {
      stages_.emplace_back();
      for (std::size_t chunk = 0; chunk < pipeline.stages[place].size(); ++chunk) {
        const std::int32_t recorded = pipeline.stages[place][chunk];
        stages_.back().push_back(
            recorded >= 0 ? recorded : static_cast<std::int32_t>(chunk) * places + static_cast<std::int32_t>(place));
      }
      for (std::size_t at = 0; at < step.places[place].size(); ++at) {
        const PipelineAction& action = step.places[place][at].action;
        if (action.part != PipelinePart::backward_weight)
          made_.try_emplace(Key{action.part == PipelinePart::forward, stage({place, at}), action.micro_batch},
                            Node{place, at});
      }
    }
  }

  [[nodiscard]] const MarkedAction& action(Node node) const { return step_.places[node.place][node.at]; }

  [[nodiscard]] Node last() const {
    Node last;
    for (std::size_t place = 0; place < step_.places.size(); ++place)
      for (std::size_t at = 0; at < step_.places[place].size(); ++at)
        if (action({place, at}).time.end > action(last).time.end) last = {place, at};
    return last;
  }

  /// What another place had to make first; the first stage's forward and the last stage's backward need nothing.
  [[nodiscard]] std::optional<Node> needed(Node node) const {
    const PipelineAction& own = action(node).action;
    if (own.part == PipelinePart::backward_weight) return std::nullopt;
    const bool is_forward = own.part == PipelinePart::forward;
    const auto found = made_.find(Key{is_forward, stage(node) + (is_forward ? -1 : 1), own.micro_batch});
    if (found == made_.end() || found->second.place == node.place) return std::nullopt;
    return found->second;
  }

 private:
  struct Key {
    bool is_forward = true;
    std::int32_t stage = 0;
    std::int32_t micro_batch = 0;
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] std::int32_t stage(Node node) const {
    return stages_[node.place][static_cast<std::size_t>(action(node).action.chunk)];
  }

  const PipelineStep& step_;
  std::vector<std::vector<std::int32_t>> stages_;
  std::map<Key, Node> made_;
};

}  // namespace

std::vector<AboveTheory> above_theory(const MarkedPipeline& pipeline, const PipelineStep& step,
                                      const ActionTimes& times) {
  const Chain chain{pipeline, step};
  std::vector<AboveTheory> above(step.places.size());
  std::size_t left = 0;  // a damaged recording might go round in circles
  for (const auto& actions : step.places) left += actions.size();
  for (Node node = chain.last(); left > 0; --left) {
    const MarkedAction& own = chain.action(node);
    AboveTheory& place = above[node.place];
    place.longer_work_ns += own.time.length().count() - std::llround(times.of(own.action.part));
    const auto needed = chain.needed(node);
    const bool waited =
        needed && (node.at == 0 || chain.action(*needed).time.end > chain.action({node.place, node.at - 1}).time.end);
    if (!waited && node.at == 0) {
      place.host_ns += (own.time.begin - step.begin()).count();
      break;
    }
    const Node before = waited ? *needed : Node{node.place, node.at - 1};
    (waited ? place.transfer_ns : place.host_ns) += (own.time.begin - chain.action(before).time.end).count();
    node = before;
  }
  return above;
}

}  // namespace rankscope::analyzer
