#include "exports/shared/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "collectives/find.h"
#include "exports/shared/chrome_ids.h"
#include "exports/shared/flows.h"
#include "exports/shared/nesting.h"
#include "exports/shared/output_target.h"
#include "exports/shared/text_writer.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer {
namespace {

/// Above this JavaScript readers lose digits, so that larger integers are written as text.
constexpr std::int64_t largest_exact = std::int64_t{1} << 53;
constexpr std::size_t spans_between_progress = 1 << 16;

/// Names of the arguments that describe a collective; attributes of the same name are left out beside them.
constexpr std::array<std::string_view, 12> collective_keys{
    "group", "seq", "op", "bytes", "dtype", "peer", "enqueued_ns", "members", "wait_ns", "waited_for", "state", "cut"};

class ChromeTrace {
 public:
  ChromeTrace(const Run& run, TextWriter& out, const Progress& progress)
      : run_(run),
        out_(out),
        progress_(progress),
        ids_(run),
        flows_(collective_flows(run)),
        parts_(match_collectives(run, ClockTrust{run}).parts) {
    zero_ns_ = std::min<std::int64_t>(0, ns_of(run.extent().begin));
    quoted_.reserve(run.strings().size());
    for (std::uint32_t id = 0; id < run.strings().size(); ++id) quoted_.push_back(json_string(run.text(StringId{id})));
    for (const auto key : collective_keys) reserved_.push_back(run.strings().find(key));
    lane_tids_.resize(run.lanes().size());
  }

  /// False if cancelled.
  bool write() {
    header();
    for (std::uint32_t row = 0; row < run_.processes().size(); ++row) process(row);
    for (const auto& lane : run_.lanes()) {
      if (!this->lane(lane)) return false;
    }
    for (const auto& mark : run_.marks()) this->mark(mark);
    for (const auto& collective : run_.collectives()) never_started(collective);
    for (const auto& track : run_.counters()) counter(track);
    footer();
    return !progress_ || progress_(1.0);
  }

 private:
  [[nodiscard]] std::string_view quoted(StringId id) const {
    return id.is_set() ? std::string_view{quoted_[id.index()]} : std::string_view{"\"\""};
  }

  void separate() {
    if (!first_) out_.text(",\n");
    first_ = false;
  }

  void metadata(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view key,
                std::string_view json) {
    separate();
    out_.text("{\"ph\":\"M\",\"name\":\"").text(what).text("\",\"pid\":").integer(pid).text(",\"tid\":").integer(tid);
    out_.text(",\"args\":{\"").text(key).text("\":").text(json).text("}}");
  }

  void process(std::uint32_t row) {
    const auto& process = run_.processes()[row];
    const auto pid = ids_.pid(row);
    metadata("process_name", pid, 0, "name", json_string(process_title(run_, process)));
    metadata("process_labels", pid, 0, "labels", json_string(format("pid {}", process.pid)));
    metadata("process_sort_index", pid, 0, "sort_index", format("{}", row));
  }

  bool lane(const Lane& lane) {
    const auto spans = run_.spans_of(lane);
    const auto rows = nesting_rows(spans);
    const auto tids = name_rows(lane, rows);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      slice(spans[i], ids_.pid(lane.process), tids[rows[i]]);
      if (++written_ % spans_between_progress != 0) continue;
      if (out_.failed()) return true;
      if (progress_ && !progress_(static_cast<double>(written_) / static_cast<double>(run_.spans().size())))
        return false;
    }
    return true;
  }

  /// Numbers and names the rows of a lane: "comm", "comm (2)", ...
  std::vector<std::int64_t> name_rows(const Lane& lane, const std::vector<std::uint32_t>& rows) {
    const auto count = rows.empty() ? 1 : *std::ranges::max_element(rows) + 1;
    const auto name = run_.text(lane.name);
    std::vector<std::int64_t> tids;
    for (std::uint32_t row = 0; row < count; ++row) {
      const auto tid = ids_.next_tid(lane.process);
      const auto pid = ids_.pid(lane.process);
      metadata("thread_name", pid, tid, "name",
               json_string(row == 0 ? std::string{name} : format("{} ({})", name, row + 1)));
      metadata("thread_sort_index", pid, tid, "sort_index", format("{}", sort_index_++));
      tids.push_back(tid);
    }
    lane_tids_[run_.id_of(lane).index()] = tids.front();
    return tids;
  }

  void place(std::int64_t pid, std::int64_t tid, RunTime time) {
    out_.text(",\"pid\":").integer(pid).text(",\"tid\":").integer(tid).text(",\"ts\":").micros(ns_of(time) - zero_ns_);
  }

  void slice(const Span& span, std::int64_t pid, std::int64_t tid) {
    separate();
    out_.text("{\"ph\":\"X\",\"name\":")
        .text(quoted(span.name))
        .text(",\"cat\":\"")
        .text(name_of(span.kind))
        .text("\"");
    place(pid, tid, span.time.begin);
    out_.text(",\"dur\":").micros(span.time.length().count());
    open_arguments();
    if (span.flags != 0) cut(span.flags);
    const bool in_collective = span.collective != Span::no_collective;
    if (in_collective) describe(run_.collectives()[span.collective], flows_[span.collective]);
    attributes(run_.attributes_of(run_.id_of(span)), in_collective);
    close_arguments();
    out_.text("}");
    if (in_collective) arrow(flows_[span.collective], pid, tid);
  }

  /// Right behind its slice, so that readers that sort by time bind it to that slice and not to one inside.
  void arrow(const Flow& flow, std::int64_t pid, std::int64_t tid) {
    if (flow.phase == FlowPhase::none) return;
    separate();
    out_.text(flow.phase == FlowPhase::start  ? "{\"ph\":\"s\""
              : flow.phase == FlowPhase::step ? "{\"ph\":\"t\",\"bp\":\"e\""
                                              : "{\"ph\":\"f\",\"bp\":\"e\"");
    out_.text(",\"id\":").integer(flow.id).text(",\"name\":\"collective\",\"cat\":\"collective\"");
    place(pid, tid, flow.at);
    out_.text("}");
  }

  void open_arguments() { first_argument_ = true; }
  void close_arguments() {
    if (!first_argument_) out_.text("}");
  }
  TextWriter& argument(std::string_view quoted_key) {
    out_.text(first_argument_ ? ",\"args\":{" : ",").text(quoted_key).text(":");
    first_argument_ = false;
    return out_;
  }
  void argument(std::string_view quoted_key, std::int64_t value) {
    argument(quoted_key);
    if (value > largest_exact || value < -largest_exact) {
      out_.text("\"").integer(value).text("\"");
    } else {
      out_.integer(value);
    }
  }

  void cut(std::uint8_t flags) {
    const bool begin = (flags & span_flag::cut_begin) != 0;
    const bool end = (flags & span_flag::cut_end) != 0;
    argument("\"cut\"").text(begin && end ? "\"both\"" : begin ? "\"begin\"" : "\"end\"");
  }

  void describe(const Collective& member, const Flow& flow) {
    if (member.group.is_set()) argument("\"group\"").text(quoted(run_.groups()[member.group.index()].name));
    if (member.sequence >= 0) argument("\"seq\"", member.sequence);
    if (member.op.is_set()) argument("\"op\"").text(quoted(member.op));
    if (member.bytes >= 0) argument("\"bytes\"", member.bytes);
    if (member.dtype.is_set()) argument("\"dtype\"").text(quoted(member.dtype));
    if (member.peer >= 0) argument("\"peer\"", member.peer);
    if (member.state != CommState::finished) argument("\"state\"").text("\"never finished\"");
    if (member.state != CommState::enqueued) {
      argument("\"enqueued_ns\"", (member.started - member.enqueued).count());  // time in the queue before its start
    }
    if (flow.phase != FlowPhase::none) shared(member, flow);
  }

  void shared(const Collective& member, const Flow& flow) {
    argument("\"members\"", flow.members);
    const auto row = static_cast<std::size_t>(&member - run_.collectives().data());
    if (row >= parts_.size() || !parts_[row].split) return;
    argument("\"wait_ns\"", parts_[row].wait_ns);
    if (parts_[row].waited_for.is_set()) argument("\"waited_for\"", parts_[row].waited_for.value);
  }

  void attributes(const AttributeRange& all, bool in_collective) {
    for (const Attribute& attribute : all) {
      if (in_collective && std::ranges::find(reserved_, attribute.key) != reserved_.end()) continue;
      switch (attribute.value.kind) {
        case AttributeKind::number:
          argument(quoted(attribute.key), attribute.value.number);
          break;
        case AttributeKind::text:
          argument(quoted(attribute.key)).text(quoted(attribute.value.text));
          break;
        case AttributeKind::json:
          argument(quoted(attribute.key)).json(run_.text(attribute.value.text));
          break;
      }
    }
  }

  /// An instant event whose arguments may follow.
  void open_instant(LaneId lane, std::string_view quoted_name, RunTime time, std::string_view category) {
    separate();
    out_.text("{\"ph\":\"i\",\"s\":\"t\",\"name\":").text(quoted_name).text(",\"cat\":\"").text(category).text("\"");
    place(ids_.pid(run_.lane(lane).process), lane_tids_[lane.index()], time);
    open_arguments();
  }
  void close_instant() {
    close_arguments();
    out_.text("}");
  }

  void mark(const Mark& mark) {
    open_instant(mark.lane, quoted(mark.name), mark.time, "mark");
    attributes(run_.attributes_of(mark), false);
    close_instant();
  }

  void never_started(const Collective& member) {
    if (member.state != CommState::enqueued || !member.enqueued_on.is_set()) return;
    open_instant(member.enqueued_on, json_string(format("{} (enqueued, never started)", run_.text(member.op))),
                 member.enqueued, "comm");
    close_instant();
  }

  /// "rss_bytes" becomes counter "rss" with value "bytes": readers show both, the second as the unit.
  void counter(const CounterTrack& track) {
    const auto name = run_.text(track.name);
    const auto split = name.rfind('_');
    const bool has_unit = split != std::string_view::npos && split > 0 && split + 1 < name.size();
    const auto head =
        format("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"ts\":", json_string(has_unit ? name.substr(0, split) : name),
               ids_.pid(track.process));
    const auto value = format(",\"args\":{{{}:", json_string(has_unit ? name.substr(split + 1) : "value"));
    for (const auto& sample : run_.samples_of(track)) {
      if (!std::isfinite(sample.value)) continue;  // JSON has no such number
      separate();
      out_.text(head).micros(ns_of(sample.time) - zero_ns_).text(value).number(sample.value).text("}}");
    }
  }

  void header() {
    const auto& info = run_.info();
    out_.text("{\"otherData\":{").text(chrome_writer).text(",\"source\":").text(json_string(info.source));
    out_.text(",\"clock\":").text(json_string(info.clock.method));
    if (info.clock.method != "none") out_.text(",\"clock_error_ns\":\"").integer(info.clock.error.count()).text("\"");
    if (info.world_size > 0) out_.text(",\"world_size\":\"").integer(info.world_size).text("\"");
    out_.text("},\n\"traceEvents\":[\n");
  }

  void footer() {
    const auto& info = run_.info();
    out_.text("\n],\"displayTimeUnit\":\"ms\"");
    if (info.origin_unix_ns != 0) out_.text(",\"baseTimeNanoseconds\":").integer(info.origin_unix_ns + zero_ns_);
    out_.text("}\n");
  }

  const Run& run_;
  TextWriter& out_;
  const Progress& progress_;
  ChromeIds ids_;
  std::vector<Flow> flows_;
  std::vector<MemberPart> parts_;    // by row of Run::collectives()
  std::int64_t zero_ns_ = 0;         // run time of ts 0
  std::vector<std::string> quoted_;  // every string of the run, by StringId
  std::vector<StringId> reserved_;
  std::vector<std::int64_t> lane_tids_;  // first row of each lane
  std::size_t written_ = 0;
  std::int64_t sort_index_ = 0;
  bool first_ = true;
  bool first_argument_ = true;
};

}  // namespace

Result<void> write_chrome(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  RS_TRY(auto file, OutputFile::create(out));
  TextWriter text{file};
  if (!ChromeTrace{run, text, progress}.write()) {
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
  }
  RS_TRY_VOID(text.finish());
  return file.commit();
}

}  // namespace rankscope::analyzer
