#include "exports/kineto/own_block.h"

#include <string>
#include <utility>
#include <vector>

#include "exports/kineto/file.h"
#include "importers/kineto/input.h"
#include "importers/kineto/own_block.h"
#include "rankscope/core/model/run.h"
#include "words/json_text.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

class OwnBlock {
 public:
  OwnBlock(const Run& run, std::uint32_t process, std::span<const KinetoRow> rows, const KinetoWords& words,
           TextWriter& out)
      : run_(run), process_(process), rows_(rows), words_(words), out_(out), places_(run.lanes().size(), -1) {}

  void write() {
    const Process& process = run_.processes()[process_];
    out_.text(",\n  \"rankscope\": {\n    \"schema\": \"").text(kineto::own_schema).text("\", \"source\": ");
    out_.text(json_string(run_.info().source)).text(", \"pid\": ").integer(process.pid);
    if (process.host.is_set()) out_.text(", \"host\": ").text(words_.text(process.host));
    if (process.program.is_set()) out_.text(", \"program\": ").text(words_.text(process.program));
    Facts own;
    for (const auto& [key, value] : process.metadata) {
      const bool moves = run_.text(key) == keys::file_time_offset;
      const auto text = moves ? kineto::moved_offset(run_.text(value), words_.zero_ns) : std::string{run_.text(value)};
      if (text) own.emplace_back(run_.text(key), *text);
    }
    facts("process", own);
    facts("run", run_.info().metadata);
    quality();
    if (!is_kineto_trace(run_)) rows();
    out_.text("\n  }");
  }

 private:
  void facts(std::string_view name, const Facts& facts) {
    out_.text(",\n    \"").text(name).text("\": {");
    bool first = true;
    for (const auto& [key, value] : facts) {
      out_.text(first ? "" : ", ").text(json_string(key)).text(": ").text(json_string(value));
      first = false;
    }
    out_.text("}");
  }

  void quality() {
    Facts counts;
    for (const CounterInfo& info : counter_table())
      if (const std::uint64_t value = run_.quality().of(info.counter); value > 0)
        counts.emplace_back(info.name, std::to_string(value));
    facts("quality", counts);
    if (run_.info().places.empty()) return;
    out_.text(",\n    \"places\": [");
    bool first = true;
    for (const QualityPlace& place : run_.info().places) {
      out_.text(first ? "[\"" : ", [\"").text(info_of(place.counter).name).text("\", ");
      out_.integer(static_cast<std::int64_t>(place.amount)).text(", ").text(json_string(place.where));
      if (place.rank.is_set()) out_.text(", ").integer(place.rank.value);
      out_.text("]");
      first = false;
    }
    out_.text("]");
  }

  void rows() {
    const Process& process = run_.processes()[process_];
    const ClockInfo& clock = run_.info().clock;
    out_.text(",\n    \"rows\": {\"zero_ns\": ").integer(words_.zero_ns);
    out_.text(", \"clock\": ").text(json_string(clock.method));
    out_.text(", \"clock_error_ns\": ").integer(clock.error.count());
    out_.text(", \"local_rank\": ").integer(process.local_rank);
    out_.text(", \"recorded_from\": ").integer(ns_of(process.recorded.begin) - words_.zero_ns);
    out_.text(", \"recorded_to\": ").integer(ns_of(process.recorded.end) - words_.zero_ns);
    out_.text(", \"ending\": \"").text(name_of(process.ending));
    out_.text("\", \"exit_status\": ").integer(process.exit_status).text(",\n    \"lanes\": [");
    std::int64_t next = 0;
    for (const Lane& lane : run_.lanes()) {
      const std::size_t row = run_.id_of(lane).index();
      if (lane.process != process_ || rows_[row].of_profiler || rows_[row].overhead) continue;
      out_.text(next == 0 ? "[" : ", [").integer(rows_[row].pid).text(", ").integer(rows_[row].tid).text(", \"");
      out_.text(name_of(lane.kind)).text("\", ").text(words_.text(lane.name)).text("]");
      places_[row] = next++;
    }
    out_.text("],\n    \"collectives\": [");
    bool first = true;
    for (const Collective& row : run_.collectives()) {
      if (!is_here(row)) continue;
      out_.text(first ? "\n      [" : ",\n      [");
      collective(row);
      first = false;
    }
    out_.text("]}");
  }

  [[nodiscard]] bool is_here(const Collective& row) const {
    const LaneId lane = row.lane.is_set() ? row.lane : row.enqueued_on;
    return lane.is_set() && run_.lane(lane).process == process_;
  }

  /// op, dtype, group, sequence, bytes, peer, state, enqueued, started, finished, lane, enqueued on, has a span.
  void collective(const Collective& row) {
    const bool started = row.state != CommState::enqueued;
    const bool finished = row.state == CommState::finished;
    out_.text(words_.text(row.op)).text(", ").text(words_.text(row.dtype));
    for (const std::int64_t value :
         {row.group.is_set() ? static_cast<std::int64_t>(row.group.value) : -1, row.sequence, row.bytes, row.peer,
          static_cast<std::int64_t>(row.state), ns_of(row.enqueued) - words_.zero_ns,
          started ? ns_of(row.started) - words_.zero_ns : 0, finished ? ns_of(row.finished) - words_.zero_ns : 0,
          place_of(row.lane), place_of(row.enqueued_on), std::int64_t{row.span.is_set()}})
      out_.text(", ").integer(value);
    out_.text("]");
  }

  [[nodiscard]] std::int64_t place_of(LaneId lane) const { return lane.is_set() ? places_[lane.index()] : -1; }

  const Run& run_;
  std::uint32_t process_;
  std::span<const KinetoRow> rows_;
  const KinetoWords& words_;
  TextWriter& out_;
  std::vector<std::int64_t> places_;  // of lanes in the block; -1 = not in it
};

}  // namespace

void write_own_block(const Run& run, std::uint32_t process, std::span<const KinetoRow> rows, const KinetoWords& words,
                     TextWriter& out) {
  OwnBlock{run, process, rows, words, out}.write();
}

}  // namespace rankscope::analyzer
