#include "rankscope/gui/models/flame/flame_tree.h"

#include <algorithm>
#include <unordered_map>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"
#include "statistics/nesting.h"

namespace rankscope::gui {
namespace {

constexpr double narrowest = 1;  // pixels

/// Numbers of steps are part of some names: paths through different steps are the same path.
StringId name_in_path(const Span& span) { return span.kind == SpanKind::step ? StringId{0} : span.name; }

bool encloses(TimeRange outer, TimeRange inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

class Builder {
 public:
  Builder(const Run& run, const FlameQuestion& question) : run_(run), nesting_(question.range) {
    tree_.question = question;
    tree_.frames.emplace_back();
  }

  void begin_lane(const Lane& lane) {
    lane_ = add_frame({.lane = run_.id_of(lane), .parent = 0});
    nesting_.begin_lane();
  }

  void add(const Span& span) {
    const TimeRange inside = intersect(span.time, tree_.question.range);
    const auto around = nesting_.meet(span.time);
    const std::uint32_t place = child_of(around ? around->owner : lane_, span);
    if (around) tree_.frames[around->owner].self_ns -= around->taken_ns;
    FlameFrame& frame = tree_.frames[place];
    const std::int64_t length = inside.length().count();
    ++frame.count;
    frame.total_ns += length;
    frame.self_ns += length;
    if (!frame.longest.is_set() || length > frame.longest_ns) {
      frame.longest_ns = length;
      frame.longest = run_.id_of(span);
    }
    nesting_.open(span.time, place);
  }

  [[nodiscard]] FlameTree finish() && {
    auto& frames = tree_.frames;
    for (std::size_t place = frames.size(); place-- > 1;) {
      FlameFrame& frame = frames[place];
      const bool is_lane = frame.parent == 0;
      if (is_lane) frame.total_ns = sum_of(frame, &FlameFrame::total_ns);
      if (is_lane) frame.self_ns = 0;
      finish(frame);
    }
    frames[0].total_ns = sum_of(frames[0], &FlameFrame::total_ns);
    finish(frames[0]);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] std::int64_t sum_of(const FlameFrame& frame, std::int64_t FlameFrame::*part) const {
    std::int64_t sum = 0;
    for (const std::uint32_t child : frame.children) sum += tree_.frames[child].*part;
    return sum;
  }

  void finish(FlameFrame& frame) const {
    frame.drawn_ns = std::max(frame.total_ns, sum_of(frame, &FlameFrame::drawn_ns));
    std::ranges::stable_sort(frame.children, std::greater{},
                             [this](std::uint32_t child) { return tree_.frames[child].total_ns; });
  }

  std::uint32_t add_frame(FlameFrame frame) {
    const auto place = static_cast<std::uint32_t>(tree_.frames.size());
    tree_.frames[frame.parent].children.push_back(place);
    tree_.frames.push_back(std::move(frame));
    return place;
  }

  std::uint32_t child_of(std::uint32_t parent, const Span& span) {
    const std::uint64_t name = (std::uint64_t{name_in_path(span).value} << 8) | static_cast<std::uint64_t>(span.kind);
    const auto [at, added] = children_.try_emplace({parent, name}, 0);
    if (added) at->second = add_frame({.name = span.name, .kind = span.kind, .parent = parent});
    return at->second;
  }

  struct HashOfKey {
    std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& key) const noexcept {
      return std::hash<std::uint64_t>{}((key.second * 0x9E3779B97F4A7C15U) ^ key.first);
    }
  };

  const Run& run_;
  FlameTree tree_;
  std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t, HashOfKey> children_;
  Nesting nesting_;         // owners are frames
  std::uint32_t lane_ = 0;  // its frame
};

bool is_wanted(const Run& run, const Lane& lane, const FlameQuestion& question) {
  if (lane.rank != question.rank) return false;
  // Kineto writes how long it recorded as if a thread named "profiler" had done it.
  if (question.lanes.empty()) return lane.kind == LaneKind::thread && run.text(lane.name) != "profiler";
  return std::ranges::binary_search(question.lanes, run.id_of(lane));
}

/// Adds boxes below one that is there already.
class Layout {
 public:
  Layout(const FlameTree& tree, std::vector<FlameBox>& boxes) : tree_(tree), boxes_(boxes) {}

  void add_children(const FlameBox& above) {
    const FlameFrame& frame = tree_.frame(above.frame);
    double left = above.left;
    FlameBox narrow{.frame = 0, .row = above.row + 1, .left = 0, .width = 0, .more = 0};
    for (const std::uint32_t child : frame.children) {
      const double share = frame.drawn_ns > 0
                               ? static_cast<double>(tree_.frame(child).drawn_ns) / static_cast<double>(frame.drawn_ns)
                               : 0;
      const FlameBox box{.frame = child, .row = above.row + 1, .left = left, .width = share * above.width};
      left += box.width;
      if (box.width >= narrowest) {
        boxes_.push_back(box);
        add_children(box);
      } else {
        if (narrow.more++ == 0) narrow = {.frame = child, .row = box.row, .left = box.left, .width = 0, .more = 1};
        narrow.width += box.width;
      }
    }
    if (narrow.more > 0 && narrow.width >= narrowest) boxes_.push_back(narrow);
  }

 private:
  const FlameTree& tree_;
  std::vector<FlameBox>& boxes_;
};

}  // namespace

std::optional<std::uint32_t> FlameTree::child_like(std::uint32_t place, const FlameFrame& wanted) const {
  const auto& children = frames[place].children;
  const auto found = std::ranges::find_if(children, [&](std::uint32_t child) {
    const FlameFrame& mine = frames[child];
    const bool same_name = mine.name == wanted.name || wanted.kind == SpanKind::step;
    return mine.kind == wanted.kind && mine.lane == wanted.lane && same_name;
  });
  return found == children.end() ? std::nullopt : std::optional{*found};
}

std::uint32_t FlameTree::like(const FlameTree& other, std::uint32_t frame) const {
  std::vector<std::uint32_t> path;
  for (; frame != 0; frame = other.frame(frame).parent) path.push_back(frame);
  std::uint32_t here = 0;
  for (auto wanted = path.rbegin(); wanted != path.rend(); ++wanted) {
    const auto next = child_like(here, other.frame(*wanted));
    if (!next) break;
    here = *next;
  }
  return here;
}

std::optional<std::uint32_t> FlameTree::frame_of(const Run& run, SpanId span) const {
  const Span* inner = &run.span(span);
  std::vector<const Span*> around{inner};
  const Span* const first = run.spans_of(run.lane(inner->lane)).data();
  for (const Span* one = inner; inner->depth > 0 && one != first;) {
    --one;
    if (!encloses(one->time, inner->time) || one->depth >= inner->depth) continue;
    around.push_back(inner = one);
  }
  auto here = child_like(0, {.lane = inner->lane});
  for (auto one = around.rbegin(); here && one != around.rend(); ++one)
    here = child_like(*here, {.name = (*one)->name, .kind = (*one)->kind});
  return here;
}

std::optional<FlameTree> flame_tree(const Run& run, const LaneBlocks& blocks, const FlameQuestion& question,
                                    const std::stop_token& stop) {
  Builder builder{run, question};
  for (const Lane& lane : run.lanes()) {
    bool any = false;
    if (!is_wanted(run, lane, question)) continue;
    blocks.over(run, lane, question.range, [&](const Span& span) {
      if (!std::exchange(any, true)) builder.begin_lane(lane);
      builder.add(span);
      return !stop.stop_requested();
    });
    if (stop.stop_requested()) return std::nullopt;
  }
  return std::move(builder).finish();
}

std::vector<FlameBox> flame_boxes(const FlameTree& tree, std::uint32_t top, double width) {
  std::vector<FlameBox> boxes;
  std::vector<std::uint32_t> around{top};
  while (around.back() != 0) around.push_back(tree.frame(around.back()).parent);
  int row = 0;
  for (auto frame = around.rbegin(); frame != around.rend(); ++frame)
    boxes.push_back({.frame = *frame, .row = row++, .left = 0, .width = width});
  const FlameBox last = boxes.back();
  Layout{tree, boxes}.add_children(last);
  return boxes;
}

}  // namespace rankscope::gui
