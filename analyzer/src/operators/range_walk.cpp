#include "operators/range_walk.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rankscope/core/model/run.h"
#include "steps/range_kinds.h"
#include "words/keys.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

/// Steps are none: they hold everything, and would leave nothing outside.
bool is_annotation(SpanKind kind) { return holds(kind) == Holds::range || kind == SpanKind::comm; }

bool longer_row(const OperatorRow& a, const OperatorRow& b) {
  return std::tuple{-a.times.device_ns, -a.times.self_ns, std::string_view{a.name}} <
         std::tuple{-b.times.device_ns, -b.times.self_ns, std::string_view{b.name}};
}

}  // namespace

RangeWalk::RangeWalk(const Run& run, RangeKind kind)
    : run_(run),
      kind_(kind),
      input_dims_(run.strings().find(keys::input_dims)),
      own_input_dims_(run.strings().find(keys::own_input_dims)),
      any_forward_link_(!run.links().empty() && run.links().back().kind == LinkKind::forward_backward),
      is_annotation_(run.strings().size(), 2),
      rows_(run.strings().size()),
      keys_(run.strings().size()) {}

RangeWalk::RangeWalk(const Run& run, RangeKind kind, RangeWatch watch) : RangeWalk(run, kind) {
  watch_ = std::move(watch);
}

bool RangeWalk::is_range(const Span& span) {
  if (kind_ == RangeKind::operators) return span.kind == SpanKind::op;
  if (span.kind != SpanKind::python && !is_annotation(span.kind)) return false;
  std::uint8_t& known = is_annotation_[span.name.index()];
  if (known == 2) {
    const std::string_view name = run_.text(span.name);
    known = span.kind == SpanKind::python ? name.starts_with("nn.Module: ") : !name.starts_with("PyTorch Profiler (");
  }
  return known == 1;
}

StringId RangeWalk::shapes_of(SpanId span) const {
  if (kind_ != RangeKind::operators) return {};
  for (const StringId key : {input_dims_, own_input_dims_}) {
    if (!key.is_set()) continue;
    const auto dims = run_.attributes_of(span).find(key);
    if (dims && dims->kind != AttributeKind::number) return dims->text;
  }
  return {};
}

StringId RangeWalk::forward_of(SpanId span) const {
  if (!any_forward_link_) return {};
  const auto links = run_.links_to(LinkKind::forward_backward, span);
  if (links.empty()) return {};
  const Span& forward = run_.span(links.front().from);
  return forward.kind == run_.span(span).kind ? forward.name : StringId{};
}

void RangeWalk::over(const Lane& lane, const WindowTime& windows, std::span<const LaunchedTime> launches) {
  now_ = RunTime::min();
  auto next = std::ranges::lower_bound(launches, SpanId{lane.first_span}, {}, &LaunchedTime::from);
  for (const Span& span : run_.spans_of(lane)) {
    const SpanId id = run_.id_of(span);
    const bool range = is_range(span);
    const bool launches_work = next != launches.end() && next->from == id;
    if (!range && !launches_work) continue;
    close_until(span.time.begin, windows);
    if (range) open(span, windows);
    for (; next != launches.end() && next->from == id; ++next) charge(next->exclusive_ns);
  }
  close_until(RunTime::max(), windows);
}

void RangeWalk::open(const Span& span, const WindowTime& windows) {
  spend_until(span.time.begin, windows);
  const SpanId id = run_.id_of(span);
  const std::size_t variant = keys_(RangeKey{span.name, shapes_of(id)});
  if (variant >= variants_.size()) variants_.resize(variant + 1);
  if (watch_.called) watch_.called(keys_.keys()[variant], span.time);
  if (windows.counts(span.time.begin)) {
    ++rows_[span.name.index()].times.calls;
    ++variants_[variant].calls;
  }
  ++rows_[span.name.index()].open;
  open_.push_back({span.time, span.name, variant, forward_of(id), 0});
}

void RangeWalk::close_until(RunTime time, const WindowTime& windows) {
  while (!open_.empty() && open_.back().time.end <= time) close_last(windows);
}

void RangeWalk::close_last(const WindowTime& windows) {
  spend_until(open_.back().time.end, windows);
  const Open last = open_.back();
  open_.pop_back();
  Row& row = rows_[last.name.index()];
  const std::int64_t total_ns = windows.length_ns(last.time);
  if (--row.open == 0) {
    row.times.total_ns += total_ns;
    row.times.device_total_ns += last.device_total_ns;
  }
  if (last.forward.is_set()) {
    BackwardTimes& backward = rows_[last.forward.index()].backward;
    if (windows.counts(last.time.begin)) ++backward.calls;
    backward.total_ns += total_ns;
    backward.device_total_ns += last.device_total_ns;
  }
  if (!open_.empty()) open_.back().device_total_ns += last.device_total_ns;
}

/// The time up to now was that of the innermost range.
void RangeWalk::spend_until(RunTime time, const WindowTime& windows) {
  if (time <= now_) return;
  if (!open_.empty()) {
    const std::int64_t ns = windows.length_ns({now_, time});
    rows_[open_.back().name.index()].times.self_ns += ns;
    variants_[open_.back().variant].self_ns += ns;
    if (watch_.spent) watch_.spent(keys_.keys()[open_.back().variant], {now_, time});
  }
  now_ = time;
}

void RangeWalk::charge(std::int64_t exclusive_ns) {
  if (open_.empty()) {
    table_.outside_device_ns += exclusive_ns;
    return;
  }
  Open& last = open_.back();
  last.device_total_ns += exclusive_ns;
  rows_[last.name.index()].times.device_ns += exclusive_ns;
  variants_[last.variant].device_ns += exclusive_ns;
}

void RangeWalk::add_unlaunched(std::int64_t exclusive_ns) {
  table_.outside_device_ns += exclusive_ns;
  table_.outside_unlaunched_ns += exclusive_ns;
}

std::vector<std::vector<ShapeRow>> RangeWalk::shapes_by_name() {
  std::vector<std::vector<ShapeRow>> shapes(rows_.size());
  for (std::size_t key = 0; key < variants_.size(); ++key) {
    const Variant& variant = variants_[key];
    const StringId id = keys_.keys()[key].shapes;
    shapes[keys_.keys()[key].name.index()].push_back(
        {text_of(run_, id), variant.calls, variant.self_ns, variant.device_ns});
  }
  for (auto& rows : shapes) {
    if (rows.size() == 1 && rows.front().shapes.empty()) rows.clear();
    std::ranges::sort(rows, [](const ShapeRow& a, const ShapeRow& b) {
      return std::tuple{-a.device_ns, -a.self_ns, std::string_view{a.shapes}} <
             std::tuple{-b.device_ns, -b.self_ns, std::string_view{b.shapes}};
    });
  }
  return shapes;
}

OperatorTable RangeWalk::finish() && {
  auto shapes = shapes_by_name();
  for (std::size_t name = 0; name < rows_.size(); ++name) {
    const Row& row = rows_[name];
    const bool empty = row.times == OperatorTimes{} && row.backward == BackwardTimes{};
    if (empty) continue;
    const StringId id{static_cast<std::uint32_t>(name)};
    table_.rows.push_back({std::string{run_.text(id)}, row.times, row.backward, std::move(shapes[name])});
  }
  std::ranges::sort(table_.rows, longer_row);
  return std::move(table_);
}

}  // namespace rankscope::analyzer
