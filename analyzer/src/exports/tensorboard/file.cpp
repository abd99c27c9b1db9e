#include "exports/tensorboard/file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "exports/shared/nesting.h"
#include "exports/tensorboard/memory.h"
#include "exports/tensorboard/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer {
namespace {

/// Written from what the Run knows, so that these attributes of an imported trace must not stand beside them.
constexpr std::array<std::string_view, 5> own_keys{"External id", "correlation", "device", "Ev Idx", "Trace id"};

/// The file of one rank.
class WorkerFile {
 public:
  WorkerFile(const TensorboardPlan& plan, RankId rank, TextWriter& out, const Tick& tick)
      : plan_(plan), run_(plan.run), rank_(rank), out_(out), tick_(tick) {
    for (const auto key : own_keys) own_keys_.push_back(run_.strings().find(key));
    for (std::uint32_t row = 0; row < run_.processes().size(); ++row)
      if (run_.processes()[row].rank == rank) processes_.push_back(row);
  }

  bool write() {
    head();
    out_.text(",\"traceEvents\":[\n");
    window();
    for (const std::uint32_t row : processes_) process(row);
    for (const Lane& lane : run_.lanes()) {
      if (lane.rank != rank_ || lane.kind == LaneKind::annotation)
        continue;  // copies of host ranges confuse the plugin
      if (!this->lane(lane)) return false;
    }
    added_nodes();
    added_steps();
    for (const std::uint32_t row : processes_) {
      write_tensorboard_memory(run_, row, memory_place(row), [&](std::string_view event) { this->event(event); });
    }
    out_.text("\n]}\n");
    return true;
  }

 private:
  void separate() {
    if (!first_) out_.text(",\n");
    first_ = false;
  }
  void event(std::string_view json) {
    separate();
    out_.text(json);
  }
  [[nodiscard]] std::string_view quoted(StringId id) const {
    return id.is_set() ? std::string_view{plan_.quoted[id.index()]} : std::string_view{"\"\""};
  }

  void head() {
    const RunInfo& info = run_.info();
    out_.text("{\"schemaVersion\":1,\"deviceProperties\":[").text(device_properties()).text("]");
    out_.text(",\"distributedInfo\":{\"backend\":\"").text(run_.has_accelerator(rank_) ? "nccl" : "gloo");
    out_.text("\",\"rank\":").integer(rank_.value).text(",\"world_size\":");
    out_.integer(info.world_size > 0 ? info.world_size : static_cast<std::int64_t>(run_.ranks().size())).text("}");
    out_.text(",\"displayTimeUnit\":\"ms\"");
    if (info.origin_unix_ns != 0) out_.text(",\"baseTimeNanoseconds\":").integer(info.origin_unix_ns + plan_.zero_ns);
  }

  /// All devices of the rank's process or none: the plugin finds them by position.
  [[nodiscard]] std::string device_properties() const {
    const std::uint32_t process = own_process();
    std::string json;
    std::int32_t expected = 0;
    for (const Device& device : run_.devices()) {
      if (device.process != process) continue;
      if (device.ordinal != expected++) return "";
      json += json.empty() ? "" : ",";
      json += format("{{\"id\":{},\"name\":{}", device.ordinal, quoted(device.name));
      for (const auto& [key, value] : device.metadata) {
        if (run_.text(key) == "id" || run_.text(key) == "name") continue;
        const auto text = run_.text(value);
        const bool number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
        json += format(",{}:{}", quoted(key), number ? text : quoted(value));
      }
      json += '}';
    }
    const bool complete = std::ranges::all_of(
        run_.lanes(), [&](const Lane& lane) { return lane.process != process || lane.device < expected; });
    return complete ? json : "";
  }

  [[nodiscard]] std::uint32_t own_process() const { return run_.process_row_of(rank_); }

  /// Device numbers are process numbers in this schema; a small process number would look like one.
  [[nodiscard]] std::int64_t pid_of(std::uint32_t process) const {
    const std::int64_t pid = run_.processes()[process].pid;
    return pid >= 64 ? pid : 1'000'000 + process;
  }
  [[nodiscard]] std::int64_t pid_of(const Lane& lane) const {
    return lane.kind == LaneKind::stream ? std::max(lane.device, 0) : pid_of(lane.process);
  }

  TextWriter& micros(RunTime time) { return out_.micros(ns_of(time) - plan_.zero_ns); }

  /// The window that the plugin computes utilisation over.
  void window() {
    std::optional<TimeRange> extent;
    for (const std::uint32_t row : processes_) {
      const TimeRange recorded = run_.processes()[row].recorded;
      if (recorded.empty()) continue;
      extent =
          extent ? TimeRange{std::min(extent->begin, recorded.begin), std::max(extent->end, recorded.end)} : recorded;
    }
    const TimeRange range = extent.value_or(run_.extent());
    separate();
    out_.text("{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\"");
    out_.text(",\"tid\":\"PyTorch Profiler\",\"ts\":");
    micros(std::max(range.begin, run_.extent().begin)).text(",\"dur\":").micros(range.length().count());
    out_.text(",\"args\":{\"Op count\":0}}");
  }

  void metadata(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view json) {
    separate();
    out_.text("{\"ph\":\"M\",\"name\":\"").text(what).text("\",\"pid\":").integer(pid).text(",\"tid\":").integer(tid);
    out_.text(",\"ts\":0,\"args\":{").text(json).text("}}");
  }

  void process(std::uint32_t row) {
    const Process& process = run_.processes()[row];
    metadata("process_name", pid_of(row), 0, format("\"name\":{}", quoted(process.program)));
    metadata("process_labels", pid_of(row), 0, "\"labels\":\"CPU\"");
    for (const Lane& lane : run_.lanes()) {
      if (lane.process != row || lane.kind != LaneKind::stream || !named_devices_.insert(pid_of(lane)).second) continue;
      metadata("process_name", pid_of(lane), 0, format("\"name\":{}", quoted(process.program)));
      metadata("process_labels", pid_of(lane), 0, format("\"labels\":\"GPU {}\"", pid_of(lane)));
    }
  }

  std::int64_t name_row(std::int64_t pid, std::string_view name) {
    const std::int64_t tid = ++last_tid_;
    metadata("thread_name", pid, tid, format("\"name\":{}", json_string(name)));
    return tid;
  }

  bool lane(const Lane& lane) {
    const auto spans = run_.spans_of(lane);
    const auto rows = nesting_rows(spans);  // what overlaps on one thread the plugin throws away
    std::vector<std::int64_t> tids;
    LinkCursor links{run_, plan_.origins, SpanId{lane.first_span}};
    open_.clear();
    lane_tids_[run_.id_of(lane)] = last_tid_ + 1;
    if (spans.empty()) name_row(pid_of(lane), run_.text(lane.name));
    for (std::size_t i = 0; i < spans.size(); ++i) {
      while (tids.size() <= rows[i]) {
        const auto name = run_.text(lane.name);
        tids.push_back(
            name_row(pid_of(lane), tids.empty() ? std::string{name} : format("{} ({})", name, tids.size() + 1)));
      }
      span(spans[i], pid_of(lane), tids[rows[i]], links);
      if (!tick_()) return false;
    }
    return true;
  }

  void open_event(std::string_view category, std::string_view quoted_name, std::int64_t pid, std::int64_t tid,
                  TimeRange time) {
    separate();
    out_.text("{\"ph\":\"X\",\"cat\":\"").text(category).text("\",\"name\":").text(quoted_name);
    out_.text(",\"pid\":").integer(pid).text(",\"tid\":").integer(tid).text(",\"ts\":");
    micros(time.begin).text(",\"dur\":").micros(time.length().count()).text(",\"args\":{");
  }

  /// How the plugin joins operators, calls and kernels.
  struct Identity {
    std::int64_t external = 0;
    std::optional<std::int64_t> correlation;  ///< of a call and the work that it launched
    std::vector<std::uint32_t> forwards;      ///< links from forward operators
  };

  Identity identify(const Span& span, LinkCursor& links) {
    const SpanId id = run_.id_of(span);
    Identity who{.external = std::int64_t{id.value} + 1, .correlation = {}, .forwards = {}};
    links.leaving(id, [&](std::uint32_t row) {
      if (run_.links()[row].kind != LinkKind::launch) return;
      who.correlation = std::int64_t{id.value} + 1;
      who.external = plan_.launched_for[row];
    });
    links.arriving(id, [&](std::uint32_t row) {
      const Link& link = run_.links()[row];
      if (link.kind == LinkKind::forward_backward) return who.forwards.push_back(row);
      who.correlation = std::int64_t{link.from.value} + 1;
      who.external = plan_.launched_for[row];
    });
    if (who.correlation) return who;
    const bool gpu_work = run_.lane(span.lane).kind == LaneKind::stream;
    if (gpu_work) who.external = orphan_of(span);
    if (span.kind == SpanKind::runtime) who.external = around(span);
    // Without a link each has a number of its own, or the plugin would join strangers.
    if (gpu_work || span.kind == SpanKind::runtime) who.correlation = std::int64_t{id.value} + 1;
    return who;
  }

  void span(const Span& span, std::int64_t pid, std::int64_t tid, LinkCursor& links) {
    const SpanId id = run_.id_of(span);
    const CommNode* const node = plan_.nodes.carried_by(id);
    if (node != nullptr) {
      open_event("user_annotation", json_string(node->name), pid, tid, span.time);
    } else if (keeps_name(span.kind)) {
      open_event(plugin_category(run_, span), quoted(span.name), pid, tid, span.time);
    } else {
      open_event(plugin_category(run_, span), json_string(plugin_name(run_, span)), pid, tid, span.time);
    }
    const Identity who = identify(span, links);
    out_.text("\"External id\":").integer(who.external);
    if (who.correlation) out_.text(",\"correlation\":").integer(*who.correlation);
    if (run_.lane(span.lane).kind == LaneKind::stream) out_.text(",\"device\":").integer(pid);
    if (node != nullptr) shapes(*node);
    attributes(span, node != nullptr);
    out_.text("}}");
    if (is_tree_node(run_, span) || node != nullptr) open_.emplace_back(span.time.end, std::int64_t{id.value} + 1);
    for (const std::uint32_t row : who.forwards) forward_backward(run_.links()[row], row, tid);
  }

  /// External id of the innermost operator that is open around a span of the same lane; 0 = none.
  std::int64_t around(const Span& span) {
    while (!open_.empty() && open_.back().first <= span.time.begin) open_.pop_back();
    return open_.empty() ? 0 : open_.back().second;
  }

  /// A communication kernel whose launch was not recorded belongs to the range that was added for it.
  [[nodiscard]] std::int64_t orphan_of(const Span& span) const {
    const CommNode* node = span.collective == Span::no_collective ? nullptr : plan_.nodes.of_member(span.collective);
    return node == nullptr ? 0 : plan_.nodes.external_id(*node);
  }

  /// The plugin computes bytes from shapes and types.
  void shapes(const CommNode& node) {
    std::string dims;
    std::string types;
    for (const std::uint32_t row : node.members) {
      const Collective& member = run_.collectives()[row];
      if (member.bytes < 0) continue;
      const PluginType type = plugin_type(run_.text(member.dtype));
      dims += format("{}[{}]", dims.empty() ? "" : ",", member.bytes / type.bytes);
      types += format("{}\"{}\"", types.empty() ? "" : ",", type.name);
    }
    out_.text(",\"Input Dims\":[").text(dims).text("],\"Input type\":[").text(types).text("]");
  }

  void attributes(const Span& span, bool has_shapes) {
    for (const Attribute& attribute : run_.attributes_of(run_.id_of(span))) {
      if (std::ranges::find(own_keys_, attribute.key) != own_keys_.end()) continue;
      if (has_shapes && run_.text(attribute.key).starts_with("Input ")) continue;
      out_.text(",").text(quoted(attribute.key)).text(":");
      switch (attribute.value.kind) {
        case AttributeKind::number:
          out_.integer(attribute.value.number);
          break;
        case AttributeKind::text:
          out_.text(quoted(attribute.value.text));
          break;
        case AttributeKind::json:
          out_.json(run_.text(attribute.value.text));
          break;
      }
    }
  }

  /// The plugin joins a forward operator to its backward one by the times of the two ends.
  void forward_backward(const Link& link, std::uint32_t row, std::int64_t tid) {
    const Span& from = run_.span(link.from);
    const Span& to = run_.span(link.to);
    const auto from_lane = lane_tids_.find(from.lane);
    if (from_lane == lane_tids_.end()) return;
    flow("s", row, from, from_lane->second);
    flow("f", row, to, tid);
  }
  void flow(std::string_view phase, std::uint32_t row, const Span& at, std::int64_t tid) {
    separate();
    out_.text("{\"ph\":\"")
        .text(phase)
        .text("\",\"cat\":\"forward_backward\",\"name\":\"fwd_bwd\",\"bp\":\"e\",\"id\":");
    out_.integer(row + 1).text(",\"pid\":").integer(pid_of(run_.lane(at.lane))).text(",\"tid\":").integer(tid);
    out_.text(",\"ts\":");
    micros(at.time.begin).text("}");
  }

  /// Communication that no host range stands for.
  void added_nodes() {
    std::int64_t tid = 0;
    for (const CommNode& node : plan_.nodes.all()) {
      if (node.rank != rank_ || node.carrier.is_set()) continue;
      const std::int64_t pid = pid_of(own_process());
      if (tid == 0) tid = name_row(pid, "collectives");
      open_event("user_annotation", json_string(node.name), pid, tid, node.host);
      out_.text("\"External id\":").integer(plan_.nodes.external_id(node));
      shapes(node);
      out_.text("}}");
    }
  }

  /// Steps that are known from ranges of other kinds.
  void added_steps() {
    if (plan_.steps == nullptr || plan_.steps->source == "step spans") return;
    std::int64_t tid = 0;
    for (const StepWindow& step : plan_.steps->windows) {
      if (step.rank != rank_) continue;
      const std::int64_t pid = pid_of(own_process());
      if (tid == 0) tid = name_row(pid, "steps");
      open_event("user_annotation", format("\"ProfilerStep#{}\"", step.index), pid, tid, step.window);
      out_.text("}}");
    }
  }

  /// Allocations lie on the thread of the steps, or the first of the process.
  [[nodiscard]] MemoryPlace memory_place(std::uint32_t row) const {
    MemoryPlace place{.pid = pid_of(row), .tid = 0, .zero_ns = plan_.zero_ns, .on_device = run_.has_accelerator(rank_)};
    for (const Lane& lane : run_.lanes()) {
      if (lane.process != row || lane.kind != LaneKind::thread) continue;
      const auto spans = run_.spans_of(lane);
      const bool steps = std::ranges::find(spans, SpanKind::step, &Span::kind) != spans.end();
      if (place.tid == 0 || steps) place.tid = lane_tids_.at(run_.id_of(lane));
      if (steps) break;
    }
    place.tids = &lane_tids_;
    return place;
  }

  const TensorboardPlan& plan_;
  const Run& run_;
  RankId rank_;
  TextWriter& out_;
  const Tick& tick_;
  std::vector<StringId> own_keys_;
  std::vector<std::uint32_t> processes_;
  std::set<std::int64_t> named_devices_;
  std::unordered_map<LaneId, std::int64_t> lane_tids_;  // first row of each lane
  std::vector<std::pair<RunTime, std::int64_t>> open_;  // ends and External ids of open operators of the lane
  std::int64_t last_tid_ = 0;
  bool first_ = true;
};

/// For each launch: the communication node of its kernel, else the operator around the call, else 0.
std::vector<std::int64_t> find_launchers(const Run& run, const CommNodes& nodes, const LinksByOrigin& origins) {
  std::vector<std::int64_t> result(run.links().size(), 0);
  std::vector<std::pair<RunTime, std::int64_t>> open;
  for (const Lane& lane : run.lanes()) {
    open.clear();
    LinkCursor links{run, origins, SpanId{lane.first_span}};
    for (const Span& span : run.spans_of(lane)) {
      const SpanId id = run.id_of(span);
      while (!open.empty() && open.back().first <= span.time.begin) open.pop_back();
      links.leaving(id, [&](std::uint32_t row) {
        const Span& work = run.span(run.links()[row].to);
        const CommNode* node = work.collective == Span::no_collective ? nullptr : nodes.of_member(work.collective);
        result[row] = node != nullptr ? nodes.external_id(*node) : open.empty() ? 0 : open.back().second;
      });
      if (is_tree_node(run, span) || nodes.carried_by(id) != nullptr)
        open.emplace_back(span.time.end, std::int64_t{id.value} + 1);
    }
  }
  return result;
}

}  // namespace

TensorboardPlan::TensorboardPlan(const Run& of, const StepsSection* found)
    : run(of),
      steps(found),
      nodes(of, found),
      origins(of),
      launched_for(find_launchers(of, nodes, origins)),
      zero_ns(std::min<std::int64_t>(0, ns_of(of.extent().begin))) {
  quoted.reserve(of.strings().size());
  for (std::uint32_t id = 0; id < of.strings().size(); ++id) quoted.push_back(json_string(of.text(StringId{id})));
}

bool write_tensorboard_file(const TensorboardPlan& plan, RankId rank, TextWriter& out, const Tick& tick) {
  return WorkerFile{plan, rank, out, tick}.write();
}

}  // namespace rankscope::analyzer
