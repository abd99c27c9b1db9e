#include "hang/components.h"

#include <algorithm>
#include <limits>

namespace rankscope::analyzer::hang {
namespace {

constexpr std::uint32_t unvisited = std::numeric_limits<std::uint32_t>::max();

class Tarjan {
 public:
  explicit Tarjan(const Edges& edges)
      : edges_(edges), index_(edges.size(), unvisited), low_(edges.size()), component_(edges.size(), unvisited) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t node = 0; node < edges_.size(); ++node)
      if (index_[node] == unvisited) visit(node);
    return std::move(component_);
  }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next_edge;
  };
  void enter(std::uint32_t node) {
    index_[node] = low_[node] = next_index_++;
    open_.push_back(node);
    frames_.push_back({node, 0});
  }
  void visit(std::uint32_t first) {
    enter(first);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t node = frame.node;
      if (frame.next_edge < edges_[node].size()) {
        const std::uint32_t to = edges_[node][frame.next_edge++];
        if (index_[to] == unvisited) {
          enter(to);
        } else if (component_[to] == unvisited) {
          low_[node] = std::min(low_[node], index_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      if (low_[node] == index_[node]) close(node);
    }
  }
  void close(std::uint32_t root) {
    std::uint32_t member = unvisited;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = next_component_;
    } while (member != root);
    ++next_component_;
  }

  const Edges& edges_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> open_;
  std::vector<Frame> frames_;
  std::uint32_t next_index_ = 0;
  std::uint32_t next_component_ = 0;
};

}  // namespace

std::vector<std::uint32_t> components_of(const Edges& edges) { return Tarjan{edges}.run(); }

}  // namespace rankscope::analyzer::hang
