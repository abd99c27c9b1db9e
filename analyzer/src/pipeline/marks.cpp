#include "pipeline/marks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "collectives/comm_ops.h"
#include "rankscope/analyzer/pipeline/section.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

// One action of a pipeline that was recorded on several streams.

struct RecordedAction {
  MarkedAction marked;
  std::uint32_t lane = 0;  ///< of the run
};

using Key = std::tuple<PipelinePart, std::int32_t, std::int32_t, std::int32_t>;

Key key_of(const MarkedAction& marked) {
  return {marked.action.part, marked.action.chunk, marked.action.micro_batch, marked.stage};
}

/// The latest run of an action: where it stands in the result, and on which lanes it was seen.
struct Latest {
  std::size_t at = 0;
  std::vector<std::uint32_t> lanes;
};

/// By begin, and each action once: a GPU annotation is written once per stream that it has work on (kineto.md 3).
/// Copies are the same action on another stream, at the same time or with no other action of the rank between; together
/// they last from the first begin to the last end.
std::vector<MarkedAction> without_copies(std::vector<RecordedAction> recorded) {
  std::ranges::stable_sort(recorded, {}, [](const RecordedAction& one) { return one.marked.time.begin; });
  std::vector<MarkedAction> actions;
  std::map<Key, Latest> latest;
  for (const auto& [marked, lane] : recorded) {
    Latest& same = latest[key_of(marked)];
    if (!same.lanes.empty() && std::ranges::find(same.lanes, lane) == same.lanes.end()) {
      RunTime& end = actions[same.at].time.end;
      if (marked.time.begin < end || same.at + 1 == actions.size()) {
        end = std::max(end, marked.time.end);
        same.lanes.push_back(lane);
        continue;
      }
    }
    same = {actions.size(), {lane}};
    actions.push_back(marked);
  }
  return actions;
}

constexpr std::int32_t largest_number = 1 << 20;  // of a stage or micro-batch: more is damage
constexpr std::array<std::string_view, 3> micro_batch_keys{"micro_batch", "microbatch", "mb"};
constexpr std::array<std::string_view, 2> chunk_keys{"chunk", "model_chunk"};

/// "PP:3F12", "3F12": stage, part, micro-batch.
std::optional<MarkedAction> action_named(std::string_view name) {
  if (name.starts_with("PP:")) name.remove_prefix(3);
  const auto stage = take_number<std::int32_t>(name, {0, largest_number});
  if (!stage || name.empty()) return std::nullopt;
  const auto part = std::string_view{"FBIW"}.find(name.front());
  if (part == std::string_view::npos) return std::nullopt;
  name.remove_prefix(1);
  const auto micro_batch = take_number<std::int32_t>(name, {0, largest_number});
  if (!micro_batch || !name.empty()) return std::nullopt;
  return MarkedAction{{static_cast<PipelinePart>(part), -1, *micro_batch}, *stage, {}};
}

PipelinePart part_of(SpanKind kind, std::string_view name) {
  if (kind == SpanKind::forward) return PipelinePart::forward;
  if (name.find("input") != std::string_view::npos) return PipelinePart::backward_input;
  if (name.find("weight") != std::string_view::npos) return PipelinePart::backward_weight;
  return PipelinePart::backward;
}

class Marks {
 public:
  explicit Marks(const Run& run) : run_(run), named_(run.strings().size()) {
    for (const std::string_view key : micro_batch_keys) micro_batch_.push_back(run.strings().find(key));
    for (const std::string_view key : chunk_keys) chunk_.push_back(run.strings().find(key));
    stage_.push_back(run.strings().find("stage"));
    for (std::uint32_t id = 0; id < named_.size(); ++id) named_[id] = action_named(run.text(StringId{id}));
  }

  [[nodiscard]] std::optional<MarkedAction> of(const Span& span) const {
    if ((span.flags & (span_flag::cut_begin | span_flag::cut_end)) != 0) return std::nullopt;
    std::optional<MarkedAction> found;
    if (span.kind == SpanKind::forward || span.kind == SpanKind::backward) found = by_attributes(span);
    const bool annotated =
        span.kind == SpanKind::user || span.kind == SpanKind::forward || span.kind == SpanKind::backward;
    if (!found && annotated) found = named_[span.name.index()];
    if (found) found->time = span.time;
    return found;
  }

 private:
  [[nodiscard]] std::optional<MarkedAction> by_attributes(const Span& span) const {
    const AttributeRange attributes = run_.attributes_of(run_.id_of(span));
    const auto micro_batch = number(attributes, micro_batch_);
    if (!micro_batch) return std::nullopt;
    MarkedAction marked;
    marked.action = {part_of(span.kind, run_.text(span.name)), number(attributes, chunk_).value_or(-1), *micro_batch};
    marked.stage = number(attributes, stage_).value_or(-1);
    return marked;
  }
  static std::optional<std::int32_t> number(const AttributeRange& attributes, std::span<const StringId> keys) {
    for (const StringId key : keys) {
      if (!key.is_set()) continue;
      const auto value = attributes.find(key);
      if (value && value->kind == AttributeKind::number && value->number >= 0 && value->number <= largest_number)
        return static_cast<std::int32_t>(value->number);
    }
    return std::nullopt;
  }

  const Run& run_;
  std::vector<StringId> micro_batch_, chunk_, stage_;
  std::vector<std::optional<MarkedAction>> named_;  // by StringId
};

bool may_hold_actions(const Run& run, const Lane& lane) {
  // What a host thread enqueues for an accelerator runs later: only the projected ranges tell when.
  const LaneKind wanted = run.has_accelerator(lane.rank) ? LaneKind::annotation : LaneKind::thread;
  return lane.rank.is_set() && lane.kind == wanted;
}

tl::unexpected<Unavailable> no_marks(const Run& run, bool on_host) {
  if (on_host)
    return unavailable(
        "forward and backward passes of micro-batches are marked on the host only, and the times at which the "
        "devices ran them were not recorded (trace GPU annotations as well)");
  const bool sends = std::ranges::any_of(run.collectives(),
                                         [&](const Collective& row) { return is_point_to_point(run.text(row.op)); });
  if (!sends) return unavailable(no_pipeline, Missed::no);
  return unavailable(
      "ranks send to one another, as stages of a pipeline do, but forward and backward passes are not marked for each "
      "micro-batch (by ranges named like PP:0F1, or by ranges with the attributes stage and micro_batch)");
}

/// Sets of ranks that are linked by a send or receive.
class Unions {
 public:
  explicit Unions(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

 private:
  std::vector<std::size_t> parent_;
};

std::optional<std::size_t> index_of(std::span<const RankActions> ranks, RankId rank) {
  const auto found = std::ranges::lower_bound(ranks, rank, {}, &RankActions::rank);
  if (found == ranks.end() || found->rank != rank) return std::nullopt;
  return static_cast<std::size_t>(found - ranks.begin());
}

/// The stages that a rank names, each once; none where they were not recorded.
std::set<std::int32_t> stages_of(const RankActions& own) {
  std::set<std::int32_t> stages;
  for (const MarkedAction& marked : own.actions)
    if (marked.stage >= 0) stages.insert(marked.stage);
  return stages;
}

/// Who sends to whom.
struct Links {
  Unions unions;
  std::vector<std::optional<RankId>> absent;  ///< by row of the ranks: a partner without actions
};

/// Ranks of the same stages are no neighbours in a pipeline, whatever they send: ring attention does, too.
Links linked(const Run& run, std::span<const RankActions> ranks) {
  Links links{Unions{ranks.size()}, std::vector<std::optional<RankId>>(ranks.size())};
  std::vector<std::set<std::int32_t>> stages;
  for (const RankActions& own : ranks) stages.push_back(stages_of(own));
  std::uint64_t last = ~std::uint64_t{0};
  std::optional<std::size_t> own;
  for (const Collective& row : run.collectives()) {
    if (row.peer < 0 || row.peer > largest_number || !is_point_to_point(run.text(row.op))) continue;
    if (last != row.rank.value) own = index_of(ranks, row.rank);
    last = row.rank.value;
    if (!own) continue;
    const RankId partner{static_cast<std::uint32_t>(row.peer)};
    const auto peer = index_of(ranks, partner);
    if (!peer)
      links.absent[*own] = partner;
    else if (stages[*own].empty() || stages[*own] != stages[*peer])
      links.unions.join(*own, *peer);
  }
  return links;
}

/// Set where two ranks of one pipeline have a stage in common: they are not places of one pipeline.
std::string why_not_in_line(std::span<const RankActions> ranks) {
  std::map<std::int32_t, RankId> held;
  for (const RankActions& own : ranks)
    for (const std::int32_t stage : stages_of(own)) {
      const auto [other, added] = held.try_emplace(stage, own.rank);
      if (!added)
        return format(
            "ranks {} and {} both have stage {} and are linked by sends, so it is not known which pipeline each "
            "belongs to",
            other->second.value, own.rank.value, stage);
    }
  return {};
}

std::int64_t place_key(const Run& run, const RankActions& own) {
  std::int32_t stage = -1;
  for (const MarkedAction& marked : own.actions)
    if (marked.stage >= 0 && (stage < 0 || marked.stage < stage)) stage = marked.stage;
  if (stage >= 0) return stage;
  return number_from<std::int64_t>(run.metadata(run.process_of(own.rank), "pp_rank")).value_or(own.rank.value);
}

/// Chunks of a rank are numbered by their stages, unless they have numbers.
std::vector<std::int32_t> number_chunks(RankActions& own) {
  std::map<std::int32_t, std::int32_t> chunks;  // stage, or recorded chunk -> chunk
  for (const MarkedAction& marked : own.actions) chunks[marked.stage >= 0 ? marked.stage : marked.action.chunk];
  std::vector<std::int32_t> stages;
  std::int32_t next = 0;
  for (auto& [stage, chunk] : chunks) {
    chunk = next++;
    stages.push_back(stage);
  }
  for (MarkedAction& marked : own.actions)
    marked.action.chunk = chunks.at(marked.stage >= 0 ? marked.stage : marked.action.chunk);
  return stages;
}

}  // namespace

Section<std::vector<RankActions>> marked_actions(const Run& run) {
  const Marks marks{run};
  std::map<RankId, std::vector<RecordedAction>> by_rank;
  bool on_host = false;
  for (const Lane& lane : run.lanes()) {
    if (!lane.rank.is_set() || lane.kind == LaneKind::comm || lane.kind == LaneKind::stream) continue;
    const bool meant = may_hold_actions(run, lane);
    for (const Span& span : run.spans_of(lane)) {
      const auto marked = marks.of(span);
      if (!marked) continue;
      on_host = true;
      if (!meant) break;
      by_rank[lane.rank].push_back({*marked, run.id_of(lane).value});
    }
  }
  if (by_rank.empty()) return no_marks(run, on_host);
  std::vector<RankActions> ranks;
  for (auto& [rank, recorded] : by_rank) ranks.push_back({rank, without_copies(std::move(recorded))});
  return ranks;
}

Section<std::vector<MarkedPipeline>> pipelines_of(const Run& run, std::vector<RankActions> ranks) {
  Links links = linked(run, ranks);
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < ranks.size(); ++i) members[links.unions.root(i)].push_back(i);
  std::vector<MarkedPipeline> pipelines;
  for (auto& [root, places] : members) {
    std::ranges::stable_sort(places, {}, [&](std::size_t i) { return place_key(run, ranks[i]); });
    MarkedPipeline pipeline;
    for (const std::size_t i : places) {
      pipeline.stages.push_back(number_chunks(ranks[i]));
      pipeline.chunks = std::max(pipeline.chunks, static_cast<std::int32_t>(pipeline.stages.back().size()));
      if (links.absent[i] && pipeline.why_not_whole.empty())
        pipeline.why_not_whole = format(
            "rank {} sends to or receives from rank {}, for which no forward and backward passes were recorded: stages "
            "may be missing",
            ranks[i].rank.value, links.absent[i]->value);
      pipeline.places.push_back(std::move(ranks[i]));
    }
    if (std::string why = why_not_in_line(pipeline.places); !why.empty()) return unavailable(std::move(why));
    pipelines.push_back(std::move(pipeline));
  }
  const auto shape = [](const MarkedPipeline& pipeline) { return pipeline.places.size(); };
  const std::size_t shortest = std::ranges::min(pipelines, {}, shape).places.size();
  const std::size_t longest = std::ranges::max(pipelines, {}, shape).places.size();
  const auto cut = std::ranges::find_if(pipelines, [](const auto& one) { return !one.why_not_whole.empty(); });
  if (longest < 2 && cut != pipelines.end()) return unavailable(cut->why_not_whole);
  if (longest < 2)
    return unavailable(
        "micro-batches are marked, but no rank sends to another: there is only one stage, or the sends were not "
        "recorded");
  if (shortest != longest)
    return unavailable(
        format("ranks are missing: one pipeline has {}, another {}", counted(shortest, "rank"), longest));
  return pipelines;
}

}  // namespace rankscope::analyzer
