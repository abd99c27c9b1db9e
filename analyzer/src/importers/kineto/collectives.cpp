// Rows of Run::collectives() from communication kernels, with what the host said about them.
#include <algorithm>
#include <tuple>

#include "importers/kineto/decimal.h"
#include "importers/kineto/trace_file.h"
#include "importers/shared/comm_kernels.h"
#include "rankscope/analyzer/open.h"
#include "words/element_type.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::size_t most_enclosing = 64;
constexpr std::int64_t most_members = 1 << 20;

/// What is known of one operation; filled from the best source to the poorest.
struct Description {
  std::string_view op{};
  ElementType type{};
  std::int64_t in = -1;
  std::int64_t out = -1;
  std::int64_t group_size = -1;
  std::string group{};
  std::string members{};
  std::int64_t start = -1;
  std::int64_t stride = -1;
  std::int64_t sequence = -1;
  std::int64_t source = -1;
  std::int64_t destination = -1;
};

std::string_view text_at(const RunBuilder& run, const AttributeRange& attributes, std::string_view key) {
  const StringId id = run.find(key);
  const auto value = id.is_set() ? attributes.find(id) : std::nullopt;
  return value && value->kind != AttributeKind::number ? run.text(value->text) : std::string_view{};
}

std::int64_t number_at(const RunBuilder& run, const AttributeRange& attributes, std::string_view key) {
  const StringId id = run.find(key);
  const auto value = id.is_set() ? attributes.find(id) : std::nullopt;
  return value && value->kind == AttributeKind::number ? value->number : -1;
}

void fill(std::int64_t& field, std::int64_t value) {
  if (field < 0) field = value;
}

/// Adds what one span says and nobody before it.
void describe(const RunBuilder& run, std::uint32_t span, Description& what) {
  const AttributeRange attributes = run.attributes_of(span);
  if (what.op.empty()) what.op = comm_op_from(text_at(run, attributes, keys::collective_name));
  if (what.type.bytes == 0) what.type = element_type_from(text_at(run, attributes, keys::dtype));
  fill(what.in, number_at(run, attributes, keys::in_elements));
  fill(what.out, number_at(run, attributes, keys::out_elements));
  fill(what.group_size, number_at(run, attributes, keys::group_size));
  fill(what.start, number_at(run, attributes, keys::rank_start));
  fill(what.stride, number_at(run, attributes, keys::rank_stride));
  fill(what.sequence, number_at(run, attributes, keys::sequence));
  fill(what.source, number_at(run, attributes, keys::source_rank));
  fill(what.destination, number_at(run, attributes, keys::destination_rank));
  if (what.group.empty()) what.group = text_at(run, attributes, keys::group_name);
  if (const std::int64_t id = number_at(run, attributes, keys::group_id); what.group.empty() && id >= 0)
    what.group = std::to_string(id);
  if (what.members.empty()) what.members = text_at(run, attributes, keys::group_ranks);
}

/// Elements from "[[321271]]" and "["float"]", which is what a range without other arguments has.
void describe_inputs(const RunBuilder& run, std::uint32_t span, Description& what) {
  const AttributeRange attributes = run.attributes_of(span);
  std::int64_t elements = 0;
  for_each_item(text_at(run, attributes, "Input Dims"), [&elements](const Value& tensor) {
    std::int64_t product = 1;
    for_each_item(tensor.raw, [&product](const Value& size) {
      const std::int64_t factor = std::clamp<std::int64_t>(integer_of(size.raw).value_or(0), 0, 1LL << 40);
      product = factor > 0 && product > (1LL << 60) / factor ? 0 : product * factor;
    });
    if (tensor.raw.size() > 2)
      elements = std::min(elements + product, std::int64_t{1} << 60U);  // too many for bytes_of
  });
  for_each_item(text_at(run, attributes, "Input type"), [&what](const Value& type) {
    if (what.type.bytes == 0) what.type = element_type_from(type.raw);
  });
  if (what.in < 0 && elements > 0) what.in = what.out = elements;
}

/// Bytes on this rank (core/model/collective.h, metrics.md 6).
std::int64_t bytes_of(const Description& what) {
  if (what.type.bytes == 0) return -1;
  std::int64_t elements = std::max(what.in, what.out);
  if (what.op == "reduce_scatter" || what.op == "recv") elements = what.out;
  if (what.op == "allgather" || what.op == "send") elements = what.in;
  if (what.op == "alltoall" && what.in >= 0) elements = what.group_size > 0 ? what.in / what.group_size : -1;
  if (elements < 0 || elements > (std::int64_t{1} << 58)) return -1;
  return elements * what.type.bytes;
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
    describe_inputs(run_, range, what);
    for (const std::uint32_t around : enclosing(range)) describe(run_, around, what);
    if (what.group.empty() && what.members.empty()) what.group = only_group();
    finish(row_of(range), what);
  }

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
    row.bytes = bytes_of(what);
    row.sequence = what.sequence;
    if (what.op == "send") row.peer = what.destination;
    if (what.op == "recv") row.peer = what.source;
    const std::vector<std::uint32_t> members = members_of(what);
    if (members.empty()) {
      run_.quality().add(Counter::no_comm_args);
    } else {
      row.group = run_.add_group(what.group, ids(members));
    }
    run_.add_collective(row);
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
};

}  // namespace

void add_collectives(const TraceFile& file, RankId rank, std::span<const std::uint32_t> calls, RunBuilder& run) {
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
}

}  // namespace rankscope::analyzer::kineto
