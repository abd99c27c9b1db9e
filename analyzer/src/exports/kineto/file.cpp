#include "exports/kineto/file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "exports/kineto/own_block.h"
#include "exports/kineto/rows.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/element_type.h"
#include "words/json_text.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view memory_mark = "[memory]";
/// Time 0 is left free: device work at 0 without length is how Kineto writes times that it does not know.
constexpr std::int64_t before_first = 1000;

/// Facts of a process that Kineto has at the top of its file.
constexpr std::array<std::string_view, 3> versions{"cupti_version", "cuda_runtime_version", "cuda_driver_version"};

bool is_memory_track(std::string_view name) {
  return name.ends_with("allocated_bytes") || name.ends_with("reserved_bytes") ||
         name.ends_with("allocated_change_bytes");
}

/// Numbers that are made up lie above it.
std::int64_t largest_correlation(const Run& run) {
  const StringId key = run.strings().find(keys::correlation);
  std::int64_t largest = 0;
  if (!key.is_set() || run.links().empty()) return largest;
  for (const Span& span : run.spans())
    if (const auto recorded = run.attributes_of(run.id_of(span)).find(key);
        recorded && recorded->kind == AttributeKind::number)
      largest = std::max(largest, recorded->number);
  return largest;
}

}  // namespace

KinetoWords::KinetoWords(const Run& run)
    : joined(run.spans().size(), 0), zero_ns(std::min<std::int64_t>(0, ns_of(run.extent().begin)) - before_first) {
  quoted.reserve(run.strings().size());
  for (std::uint32_t id = 0; id < run.strings().size(); ++id) quoted.push_back(json_string(run.text(StringId{id})));
  onward.resize(run.links().size());
  std::iota(onward.begin(), onward.end(), 0U);
  std::ranges::stable_sort(onward, {}, [&run](std::uint32_t row) { return run.links()[row].from; });
  std::int64_t next = largest_correlation(run);
  for (const Link& link : run.links()) {
    if (link.kind != LinkKind::launch) continue;
    const auto from = run.number(link.from, keys::correlation);
    if (from && run.number(link.to, keys::correlation) == from) continue;
    if (joined[link.from.index()] == 0) joined[link.from.index()] = ++next;
    joined[link.to.index()] = joined[link.from.index()];
  }
}

KinetoFile::KinetoFile(const Run& run, RankId rank, const KinetoWords& words, TextWriter& out, SpanProgress& progress)
    : run_(run),
      rank_(rank),
      process_(run.process_row_of(rank)),
      words_(words),
      out_(out),
      progress_(progress),
      rows_(kineto_rows(run, process_)),
      keeps_rows_(!is_kineto_trace(run)),
      index_(run.strings().find(keys::index)),
      category_(run.strings().find(keys::category)),
      correlation_(run.strings().find(keys::correlation)),
      device_(run.strings().find(keys::device)),
      stream_(run.strings().find(keys::stream)) {
  const StringId memory = run.strings().find(memory_mark);
  has_memory_marks_ = memory.is_set() && std::ranges::any_of(run.marks(), [&](const Mark& mark) {
                        return mark.name == memory && run.lane(mark.lane).process == process_;
                      });
}

bool KinetoFile::write() {
  header();
  name_rows();
  for (const Lane& lane : run_.lanes())
    if (lane.process == process_ && !this->lane(lane, rows_[run_.id_of(lane).index()])) return false;
  for (const Mark& mark : run_.marks())
    if (run_.lane(mark.lane).process == process_) this->mark(mark, rows_[mark.lane.index()]);
  for (const CounterTrack& track : run_.counters())
    if (track.process == process_ && !derived_from_marks(track)) counter(track);
  out_.text("\n  ],\n  \"displayTimeUnit\": \"ms\"");
  if (run_.info().origin_unix_ns != 0)
    out_.text(",\n  \"baseTimeNanoseconds\": ").integer(run_.info().origin_unix_ns + words_.zero_ns);
  out_.text("\n}\n");
  return true;
}

void KinetoFile::header() {
  out_.text("{\n  \"schemaVersion\": 1");
  devices();
  distributed();
  for (const auto& [key, value] : run_.processes()[process_].metadata)
    if (std::ranges::find(versions, run_.text(key)) != versions.end())
      out_.text(",\n  ").text(quoted(key)).text(": ").text(json_value(run_.text(value)));
  write_own_block(run_, process_, rows_, words_, out_);
  if (const StringId host = run_.processes()[process_].host; host.is_set())
    out_.text(",\n  \"host_name\": ").text(quoted(host));
  out_.text(",\n  \"traceEvents\": [\n");
}

void KinetoFile::devices() {
  out_.text(",\n  \"deviceProperties\": [");
  std::int32_t next = 0;
  for (const Device& device : run_.devices()) {
    if (device.process != process_) continue;
    for (; next < device.ordinal; ++next) out_.text(next == 0 ? "{}" : ", {}");
    out_.text(next++ == 0 ? "\n    {" : ",\n    {").text("\"id\": ").integer(device.ordinal);
    if (device.name.is_set()) out_.text(", \"name\": ").text(quoted(device.name));
    if (device.uuid.is_set()) out_.text(", \"uuid\": ").text(quoted(device.uuid));
    for (const auto& [key, value] : device.metadata)
      out_.text(", ").text(quoted(key)).text(": ").text(json_value(run_.text(value)));
    out_.text("}");
  }
  out_.text("]");
}

void KinetoFile::distributed() {
  const Process& process = run_.processes()[process_];
  const std::string_view backend = run_.metadata(process, "backend");
  const std::string_view fallback = run_.has_accelerator(process.rank) ? "nccl" : "gloo";
  out_.text(",\n  \"distributedInfo\": {\"backend\": ").text(json_string(backend.empty() ? fallback : backend));
  out_.text(", \"rank\": ").integer(rank_.value);
  if (run_.info().world_size > 0) out_.text(", \"world_size\": ").integer(run_.info().world_size);
  if (const std::string_view version = run_.metadata(process, "nccl_version"); !version.empty())
    out_.text(", \"nccl_version\": ").text(json_string(version));
  out_.text(", \"pg_count\": ").integer(static_cast<std::int64_t>(run_.groups().size())).text(", \"pg_config\": [");
  bool first = true;
  for (const Group& group : run_.groups()) {
    out_.text(first ? "" : ", ").text("{\"pg_name\": ").text(quoted(group.name)).text(", \"pg_size\": ");
    first = false;
    out_.integer(static_cast<std::int64_t>(group.members.size())).text(", \"ranks\": [");
    for (std::size_t i = 0; i < group.members.size(); ++i)
      out_.text(i == 0 ? "" : ", ").integer(group.members[i].value);
    out_.text("]}");
  }
  out_.text("]}");
}

void KinetoFile::name_rows() {
  const Process& process = run_.processes()[process_];
  const Row whole{.pid = process.pid};
  metadata("process_name", whole, "name", process.program.is_set() ? quoted(process.program) : "\"python\"");
  metadata("process_labels", whole, "labels", "\"CPU\"");
  std::set<std::int32_t> devices;
  for (const Lane& lane : run_.lanes()) {
    if (lane.process != process_) continue;
    const Row& row = rows_[run_.id_of(lane).index()];
    if (lane.kind == LaneKind::stream || lane.kind == LaneKind::annotation)
      devices.insert(lane.device);
    else if (!row.of_profiler && !row.overhead)
      metadata("thread_name", row, "name", quoted(lane.name));
  }
  for (const std::int32_t device : devices)
    metadata("process_labels", Row{.pid = std::max(device, 0)}, "labels", json_string(format("GPU {}", device)));
}

void KinetoFile::metadata(std::string_view what, const Row& row, std::string_view key, std::string_view json) {
  out_.text(first_event_ ? "" : ",\n").text("{\"ph\": \"M\", \"name\": \"").text(what).text("\", \"pid\": ");
  first_event_ = false;
  out_.integer(row.pid).text(", \"tid\": ").integer(row.tid).text(", \"args\": {\"").text(key).text("\": ").text(json);
  out_.text("}}");
}

bool KinetoFile::lane(const Lane& lane, const Row& row) {
  for (const Span& span : run_.spans_of(lane)) {
    this->span(span, lane, row);
    flows(span, row);
    if (!progress_.step()) return false;
    if (out_.failed()) return true;
  }
  return true;
}

void KinetoFile::event(char phase, std::string_view category, std::string_view quoted_name) {
  out_.text(first_event_ ? "" : ",\n").text("{\"ph\": \"").text({&phase, 1});
  first_event_ = false;
  if (!category.empty()) out_.text("\", \"cat\": \"").text(category);
  out_.text("\", \"name\": ").text(quoted_name);
}

void KinetoFile::place(const Row& row, RunTime time) {
  if (row.of_profiler) {
    out_.text(", \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\"");
  } else {
    out_.text(", \"pid\": ").integer(row.pid).text(", \"tid\": ").integer(row.tid);
  }
  out_.text(", \"ts\": ").micros(ns_of(time) - words_.zero_ns);
}

void KinetoFile::span(const Span& span, const Lane& lane, const Row& row) {
  const AttributeRange attributes = run_.attributes_of(run_.id_of(span));
  const auto recorded = category_.is_set() ? attributes.find(category_) : std::nullopt;
  const bool keeps_category = recorded && recorded->kind == AttributeKind::text &&
                              (!keeps_rows_ || belongs_on(run_.text(recorded->text), lane.kind));
  const bool ours = span.kind == SpanKind::comm && lane.kind != LaneKind::stream &&
                    span.collective != Span::no_collective && !run_.text(span.name).starts_with("gloo:");
  if (ours) collective(span, row);
  const std::string_view category = keeps_category ? run_.text(recorded->text) : kineto_category(run_, span, row);
  const std::string name = quoted_name(span, ours);
  event('X', keeps_category ? std::string_view{} : category, name);
  if (keeps_category) out_.text(", \"cat\": ").text(quoted(recorded->text));
  place(row, span.time.begin);
  out_.text(", \"dur\": ").micros(span.time.length().count());
  arguments(attributes, &span, lane, keeps_category ? category_ : StringId::none());
  if (keeps_rows_) own_arguments(span, category, name);
  close();
}

/// What the category and the name do not tell whoever reads them.
void KinetoFile::own_arguments(const Span& span, std::string_view category, std::string_view name) {
  const bool may_mislead = name.find_first_of(":#") != std::string_view::npos;  // "nccl:all_reduce", "ProfilerStep#3"
  const bool says_so = (span.kind == SpanKind::step && name.starts_with("\"ProfilerStep#")) ||
                       (span.kind == SpanKind::comm && name.starts_with("\"gloo:"));
  if (!says_so && (may_mislead || !states_kind(category, span.kind))) {
    argument(format("\"{}\"", keys::own_kind));
    out_.text("\"").text(name_of(span.kind)).text("\"");
  }
  if (span.flags != 0) argument(keys::own_flags, span.flags);
  const bool on_stream = run_.lane(span.lane).kind == LaneKind::stream;
  if (!on_stream || span.collective == Span::no_collective) return;
  const StringId described = run_.strings().find(keys::collective_name);
  if (described.is_set() && run_.attributes_of(run_.id_of(span)).find(described)) return;
  collective_arguments(run_.collectives()[span.collective]);
}

/// Collectives on the host are named as Gloo's, steps as Kineto's.
std::string KinetoFile::quoted_name(const Span& span, bool ours) const {
  const std::string_view name = run_.text(span.name);
  if (ours) return json_string(format("gloo:{}", name));
  const auto index = span.kind == SpanKind::step ? run_.number(run_.id_of(span), keys::index) : std::nullopt;
  if (index && *index >= 0 && !name.starts_with("ProfilerStep#")) return format("\"ProfilerStep#{}\"", *index);
  return std::string{quoted(span.name)};
}

void KinetoFile::arguments(const AttributeRange& attributes, const Span* span, const Lane& lane, StringId left_out) {
  first_argument_ = true;
  bool says_correlation = false;
  bool says_device = lane.kind != LaneKind::stream;
  bool says_stream = says_device;
  for (const Attribute& attribute : attributes) {
    if (attribute.key == left_out) continue;
    if (keeps_rows_ && run_.text(attribute.key).starts_with(keys::own_prefix)) continue;  // of an earlier export
    // In the name of the step, except for one that was cut off before it had a number.
    const bool is_index = span != nullptr && span->kind == SpanKind::step && attribute.key == index_;
    if (is_index && (attribute.value.kind != AttributeKind::number || attribute.value.number >= 0)) continue;
    if (attribute.key == correlation_ && span != nullptr && words_.joined[run_.id_of(*span).index()] != 0) continue;
    says_correlation = says_correlation || attribute.key == correlation_;
    says_device = says_device || attribute.key == device_;
    says_stream = says_stream || attribute.key == stream_;
    argument(quoted(attribute.key));
    if (attribute.value.kind == AttributeKind::number)
      out_.integer(attribute.value.number);
    else if (attribute.value.kind == AttributeKind::text)
      out_.text(quoted(attribute.value.text));
    else
      out_.json(run_.text(attribute.value.text));
  }
  if (span == nullptr) return;
  if (!says_device) argument(keys::device, std::max(lane.device, 0));
  if (!says_stream) argument(keys::stream, rows_[span->lane.index()].tid);
  if (const std::int64_t made = words_.joined[run_.id_of(*span).index()]; made != 0) argument(keys::correlation, made);
}

void KinetoFile::argument(std::string_view quoted_key) {
  out_.text(first_argument_ ? ", \"args\": {" : ", ").text(quoted_key).text(": ");
  first_argument_ = false;
}

void KinetoFile::argument(std::string_view key, std::int64_t value) {
  argument(format("\"{}\"", key));
  out_.integer(value);
}

void KinetoFile::close() {
  out_.text(first_argument_ ? "}" : "}}");
  first_argument_ = true;
}

void KinetoFile::mark(const Mark& mark, const Row& row) {
  const bool memory = run_.text(mark.name) == memory_mark;
  event('i', memory ? "cpu_instant_event" : "", quoted(mark.name));
  out_.text(", \"s\": \"t\"");
  place(row, mark.time);
  arguments(run_.attributes_of(mark), nullptr, run_.lane(mark.lane), StringId::none());
  close();
}

/// Tracks that the reader makes of [memory] events are not written a second time.
bool KinetoFile::derived_from_marks(const CounterTrack& track) const {
  return has_memory_marks_ && is_memory_track(run_.text(track.name));
}

void KinetoFile::counter(const CounterTrack& track) {
  for (const CounterSample& sample : run_.samples_of(track)) {
    if (!std::isfinite(sample.value)) continue;  // JSON has no such number
    event('C', "hardware_counters", quoted(track.name));
    place(Row{.pid = run_.processes()[process_].pid}, sample.time);
    out_.text(", \"args\": {\"\": ").number(sample.value).text("}}");
  }
}

/// Arrows stand right behind the slice that they touch, so that viewers bind them to it.
void KinetoFile::flows(const Span& span, const Row& row) {
  const SpanId id = run_.id_of(span);
  for (const LinkKind kind : {LinkKind::launch, LinkKind::forward_backward})
    for (const Link& link : run_.links_to(kind, id)) flow(span, row, 'f', link);
  const auto from = [this](std::uint32_t link) { return run_.links()[link].from; };
  for (const std::uint32_t link : std::ranges::equal_range(words_.onward, id, {}, from))
    flow(span, row, 's', run_.links()[link]);
}

void KinetoFile::flow(const Span& span, const Row& row, char phase, const Link& link) {
  const std::string_view name = link.kind == LinkKind::launch ? "ac2g" : "fwdbwd";
  out_.text(",\n{\"ph\": \"").text({&phase, 1}).text("\", \"id\": ").integer(&link - run_.links().data() + 1);
  out_.text(", \"cat\": \"").text(name).text("\", \"name\": \"").text(name).text("\"");
  place(row, span.time.begin);
  out_.text(phase == 'f' ? ", \"bp\": \"e\"}" : "}");
}

/// A collective that ran on the host: c10d's record of it, around a range named as Gloo's are.
void KinetoFile::collective(const Span& span, const Row& row) {
  event('X', "cpu_op", "\"record_param_comms\"");
  place(row, span.time.begin);
  out_.text(", \"dur\": ").micros(span.time.length().count());
  collective_arguments(run_.collectives()[span.collective]);
  argument(keys::own_copy, 1);
  close();
}

/// The arguments by which c10d describes a collective.
void KinetoFile::collective_arguments(const Collective& member) {
  const ElementType type = element_type_from(run_.text(member.dtype));
  argument(format("\"{}\"", keys::collective_name));
  out_.text(quoted(member.op));
  if (member.bytes >= 0 && type.bytes > 0) {
    std::int64_t elements = member.bytes / type.bytes;
    const bool per_peer = run_.text(member.op) == "alltoall" && member.group.is_set();
    const auto peers = per_peer ? static_cast<std::int64_t>(run_.groups()[member.group.index()].members.size()) : 1;
    const bool fits = !__builtin_mul_overflow(elements, peers, &elements);  // the own block has the bytes
    if (fits) argument(keys::in_elements, elements);
    if (fits) argument(keys::out_elements, elements);
    argument(format("\"{}\"", keys::dtype));
    out_.text(json_string(type.torch_name));
  }
  if (member.group.is_set()) {
    const Group& group = run_.groups()[member.group.index()];
    argument(keys::group_size, static_cast<std::int64_t>(group.members.size()));
    argument(format("\"{}\"", keys::group_name));
    out_.text(quoted(group.name));
  }
  if (member.sequence >= 0) argument(keys::sequence, member.sequence);
  if (member.peer >= 0)
    argument(run_.text(member.op) == "recv" ? keys::source_rank : keys::destination_rank, member.peer);
}

}  // namespace rankscope::analyzer
