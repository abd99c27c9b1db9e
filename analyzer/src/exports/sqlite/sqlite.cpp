#include "exports/shared/formats.h"

#include <cmath>
#include <optional>
#include <vector>

#include "collectives/find.h"
#include "exports/shared/output_place.h"
#include "exports/sqlite/database.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"
#include "words/json_text.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {
namespace {

// The tables of the SQLite export. docs/sqlite.md explains them; a change of meaning raises user_version.

constexpr const char* sqlite_tables = R"sql(
PRAGMA application_id = 0x526B5363;
PRAGMA user_version = 1;
CREATE TABLE run(source TEXT NOT NULL, world_size INTEGER, origin_unix_ns INTEGER, clock_method TEXT NOT NULL,
  clock_error_ns INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE TABLE run_metadata(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE processes(id INTEGER PRIMARY KEY, rank INTEGER, pid INTEGER NOT NULL, host_id INTEGER, program_id INTEGER,
  local_rank INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, ending TEXT NOT NULL, exit_status INTEGER);
CREATE TABLE process_metadata(process_id INTEGER NOT NULL, key_id INTEGER, value_id INTEGER);
CREATE TABLE devices(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, name_id INTEGER,
  uuid_id INTEGER);
CREATE TABLE device_properties(device_id INTEGER NOT NULL, key_id INTEGER, value_id INTEGER);
CREATE TABLE lanes(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, rank INTEGER, kind TEXT NOT NULL,
  name_id INTEGER, number INTEGER NOT NULL, device INTEGER);
CREATE TABLE span_kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE spans(id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL, kind_id INTEGER NOT NULL, name_id INTEGER,
  begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, depth INTEGER NOT NULL, cut_begin INTEGER NOT NULL,
  cut_end INTEGER NOT NULL, collective_id INTEGER);
CREATE TABLE span_attributes(span_id INTEGER NOT NULL, key_id INTEGER, number INTEGER, text_id INTEGER,
  json_id INTEGER);
CREATE TABLE marks(id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL, name_id INTEGER, time_ns INTEGER NOT NULL);
CREATE TABLE mark_attributes(mark_id INTEGER NOT NULL, key_id INTEGER, number INTEGER, text_id INTEGER,
  json_id INTEGER);
CREATE TABLE links(kind TEXT NOT NULL, from_span_id INTEGER NOT NULL, to_span_id INTEGER NOT NULL);
CREATE TABLE groups(id INTEGER PRIMARY KEY, name_id INTEGER, size INTEGER NOT NULL);
CREATE TABLE group_members(group_id INTEGER NOT NULL, position INTEGER NOT NULL, rank INTEGER NOT NULL,
  PRIMARY KEY(group_id, position)) WITHOUT ROWID;
CREATE TABLE operations(id INTEGER PRIMARY KEY, group_id INTEGER, op_id INTEGER, sequence INTEGER,
  bytes INTEGER, members INTEGER NOT NULL, complete INTEGER NOT NULL, first_rank INTEGER, last_rank INTEGER,
  first_start_ns INTEGER NOT NULL, last_start_ns INTEGER NOT NULL, wait_ns INTEGER, transfer_ns INTEGER);
CREATE TABLE collectives(id INTEGER PRIMARY KEY, operation_id INTEGER, rank INTEGER NOT NULL, group_id INTEGER,
  op_id INTEGER, dtype_id INTEGER, sequence INTEGER, bytes INTEGER, peer INTEGER, state TEXT NOT NULL,
  enqueued_ns INTEGER NOT NULL, started_ns INTEGER, finished_ns INTEGER, lane_id INTEGER, enqueued_lane_id INTEGER,
  span_id INTEGER, wait_ns INTEGER, transfer_ns INTEGER, waited_for INTEGER);
CREATE TABLE counters(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, rank INTEGER, name_id INTEGER);
CREATE TABLE samples(counter_id INTEGER NOT NULL, time_ns INTEGER NOT NULL, value REAL NOT NULL);
CREATE TABLE steps(step INTEGER PRIMARY KEY, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
  complete INTEGER NOT NULL, warm_up INTEGER NOT NULL);
CREATE TABLE rank_steps(rank INTEGER NOT NULL, step INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  complete INTEGER NOT NULL, PRIMARY KEY(rank, step)) WITHOUT ROWID;
CREATE TABLE quality(counter TEXT PRIMARY KEY, value INTEGER NOT NULL, severity TEXT NOT NULL,
  advice TEXT NOT NULL) WITHOUT ROWID;
)sql";

/// Made last: an index is cheaper over rows that are there.
constexpr const char* sqlite_indices = R"sql(
CREATE INDEX spans_by_lane ON spans(lane_id, begin_ns);
CREATE INDEX span_attributes_by_span ON span_attributes(span_id);
CREATE INDEX mark_attributes_by_mark ON mark_attributes(mark_id);
CREATE INDEX links_by_target ON links(to_span_id);
CREATE INDEX collectives_by_operation ON collectives(operation_id);
CREATE INDEX samples_by_counter ON samples(counter_id, time_ns);
CREATE VIEW span_list AS
  SELECT spans.id, lanes.rank, lane_name.text AS lane, span_kinds.name AS kind, span_name.text AS name, spans.begin_ns,
    spans.duration_ns, spans.depth, spans.collective_id
  FROM spans JOIN lanes ON lanes.id = spans.lane_id JOIN span_kinds ON span_kinds.id = spans.kind_id
    LEFT JOIN strings AS span_name ON span_name.id = spans.name_id
    LEFT JOIN strings AS lane_name ON lane_name.id = lanes.name_id;
CREATE VIEW attribute_list AS
  SELECT span_id, key.text AS key, coalesce(span_attributes.number, value.text) AS value
  FROM span_attributes LEFT JOIN strings AS key ON key.id = key_id
    LEFT JOIN strings AS value ON value.id = coalesce(text_id, json_id);
)sql";

using Integer = std::optional<std::int64_t>;

constexpr std::size_t rows_between_progress = 1 << 16;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

template <class Tag>
Integer id(Id<Tag> id) {
  return id.is_set() ? Integer{id.value} : std::nullopt;
}
/// -1 stands for "not recorded" in the Run.
Integer recorded(std::int64_t value) { return value >= 0 ? Integer{value} : std::nullopt; }

class Tables {
 public:
  Tables(const Run& run, SqliteDatabase& database, const Progress& progress)
      : run_(run), db_(database), progress_(progress) {}

  /// False if cancelled.
  bool write() {
    db_.run(sqlite_tables);
    about_the_run();
    processes();
    lanes();
    if (!spans()) return false;
    marks();
    links();
    groups();
    collectives();
    if (!counters()) return false;
    steps();
    quality();
    db_.run(sqlite_indices);
    return !progress_ || progress_(1.0);
  }

 private:
  void about_the_run() {
    const RunInfo& info = run_.info();
    const TimeRange extent = run_.extent();
    SqliteInsert{db_, "INSERT INTO run VALUES(?,?,?,?,?,?,?)"}(
        std::string_view{info.source}, info.world_size > 0 ? Integer{info.world_size} : std::nullopt,
        info.origin_unix_ns != 0 ? Integer{info.origin_unix_ns} : std::nullopt, std::string_view{info.clock.method},
        info.clock.method != "none" ? Integer{info.clock.error.count()} : std::nullopt, ns_of(extent.begin),
        ns_of(extent.end));
    // Keys that differ only in bytes that are no UTF-8 become one.
    SqliteInsert metadata{
        db_,
        "INSERT INTO run_metadata VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value = value || '; ' || excluded.value"};
    for (const auto& [key, value] : info.metadata) metadata(valid_utf8(key), valid_utf8(value));
    SqliteInsert strings{db_, "INSERT INTO strings VALUES(?,?)"};
    for (std::uint32_t row = 0; row < run_.strings().size(); ++row) {
      const std::string text = valid_utf8(run_.text(StringId{row}));
      strings(std::int64_t{row}, std::string_view{text});
    }
  }

  void processes() {
    SqliteInsert insert{db_, "INSERT INTO processes VALUES(?,?,?,?,?,?,?,?,?,?)"};
    SqliteInsert metadata{db_, "INSERT INTO process_metadata VALUES(?,?,?)"};
    for (std::size_t row = 0; row < run_.processes().size(); ++row) {
      const Process& process = run_.processes()[row];
      insert(whole(row), id(process.rank), process.pid, id(process.host), id(process.program),
             recorded(process.local_rank), ns_of(process.recorded.begin), ns_of(process.recorded.end),
             name_of(process.ending), process.ending == Ending::exited ? Integer{process.exit_status} : std::nullopt);
      for (const auto& [key, value] : process.metadata) metadata(whole(row), id(key), id(value));
    }
    SqliteInsert devices{db_, "INSERT INTO devices VALUES(?,?,?,?,?)"};
    SqliteInsert properties{db_, "INSERT INTO device_properties VALUES(?,?,?)"};
    for (std::size_t row = 0; row < run_.devices().size(); ++row) {
      const Device& device = run_.devices()[row];
      devices(whole(row), std::int64_t{device.process}, std::int64_t{device.ordinal}, id(device.name), id(device.uuid));
      for (const auto& [key, value] : device.metadata) properties(whole(row), id(key), id(value));
    }
  }

  void lanes() {
    SqliteInsert insert{db_, "INSERT INTO lanes VALUES(?,?,?,?,?,?,?)"};
    for (std::size_t row = 0; row < run_.lanes().size(); ++row) {
      const Lane& lane = run_.lanes()[row];
      insert(whole(row), std::int64_t{lane.process}, id(lane.rank), name_of(lane.kind), id(lane.name), lane.number,
             recorded(lane.device));
    }
    SqliteInsert kinds{db_, "INSERT INTO span_kinds VALUES(?,?)"};
    for (std::size_t kind = 0; kind < span_kind_count; ++kind) kinds(whole(kind), name_of(static_cast<SpanKind>(kind)));
  }

  /// Tells how far it is; false to stop, also when nothing can be written any more.
  bool go_on() {
    if (++rows_ % rows_between_progress != 0) return true;
    if (db_.failed()) return true;
    const std::size_t all = run_.spans().size() + run_.samples().size();
    return !progress_ || progress_(0.95 * static_cast<double>(rows_) / static_cast<double>(all));
  }

  static void attributes(SqliteInsert& insert, std::size_t owner, const AttributeRange& all) {
    for (const Attribute& attribute : all) {
      const AttributeValue& value = attribute.value;
      const bool number = value.kind == AttributeKind::number;
      insert(whole(owner), id(attribute.key), number ? Integer{value.number} : std::nullopt,
             value.kind == AttributeKind::text ? id(value.text) : std::nullopt,
             value.kind == AttributeKind::json ? id(value.text) : std::nullopt);
    }
  }

  bool spans() {
    SqliteInsert insert{db_, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?)"};
    SqliteInsert described{db_, "INSERT INTO span_attributes VALUES(?,?,?,?,?)"};
    for (std::size_t row = 0; row < run_.spans().size(); ++row) {
      const Span& span = run_.spans()[row];
      insert(whole(row), std::int64_t{span.lane.value}, static_cast<std::int64_t>(span.kind), id(span.name),
             ns_of(span.time.begin), std::int64_t{span.time.length().count()}, std::int64_t{span.depth},
             std::int64_t{(span.flags & span_flag::cut_begin) != 0},
             std::int64_t{(span.flags & span_flag::cut_end) != 0},
             span.collective == Span::no_collective ? std::nullopt : Integer{span.collective});
      attributes(described, row, run_.attributes_of(run_.id_of(span)));
      if (!go_on()) return false;
    }
    return true;
  }

  void marks() {
    SqliteInsert insert{db_, "INSERT INTO marks VALUES(?,?,?,?)"};
    SqliteInsert described{db_, "INSERT INTO mark_attributes VALUES(?,?,?,?,?)"};
    for (std::size_t row = 0; row < run_.marks().size(); ++row) {
      const Mark& mark = run_.marks()[row];
      insert(whole(row), id(mark.lane), id(mark.name), ns_of(mark.time));
      attributes(described, row, run_.attributes_of(mark));
    }
  }

  void links() {
    SqliteInsert insert{db_, "INSERT INTO links VALUES(?,?,?)"};
    for (const Link& link : run_.links()) insert(name_of(link.kind), id(link.from), id(link.to));
  }

  void groups() {
    SqliteInsert insert{db_, "INSERT INTO groups VALUES(?,?,?)"};
    SqliteInsert member{db_, "INSERT INTO group_members VALUES(?,?,?)"};
    for (std::size_t row = 0; row < run_.groups().size(); ++row) {
      const Group& group = run_.groups()[row];
      insert(whole(row), id(group.name), whole(group.members.size()));
      for (std::size_t i = 0; i < group.members.size(); ++i) member(whole(row), whole(i), id(group.members[i]));
    }
  }

  /// Matched operations, and the members with their operation.
  void collectives() {
    const Matching matching = match_collectives(run_, ClockTrust{run_});
    std::vector<Integer> operation_of(run_.collectives().size());
    if (matching.section) operations(*matching.section, operation_of);
    SqliteInsert insert{db_, "INSERT INTO collectives VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"};
    for (std::size_t row = 0; row < run_.collectives().size(); ++row) {
      const Collective& member = run_.collectives()[row];
      const bool started = member.state != CommState::enqueued;
      const bool finished = member.state == CommState::finished;
      const bool split = finished && row < matching.parts.size() && matching.parts[row].split;
      const bool moved = split && matching.parts[row].rest_is_transfer;
      const std::int64_t wait = split ? matching.parts[row].wait_ns : 0;
      const std::int64_t length = (member.finished - member.started).count();
      insert(whole(row), operation_of[row], id(member.rank), id(member.group), id(member.op), id(member.dtype),
             recorded(member.sequence), recorded(member.bytes), recorded(member.peer), state_name(member.state),
             ns_of(member.enqueued), started ? Integer{ns_of(member.started)} : std::nullopt,
             finished ? Integer{ns_of(member.finished)} : std::nullopt, id(member.lane), id(member.enqueued_on),
             id(member.span), split ? Integer{wait} : std::nullopt, moved ? Integer{length - wait} : std::nullopt,
             split ? id(matching.parts[row].waited_for) : std::nullopt);
    }
  }

  static std::string_view state_name(CommState state) {
    switch (state) {
      case CommState::enqueued:
        return "enqueued";
      case CommState::started:
        return "started";
      case CommState::finished:
        return "finished";
    }
    return "";
  }

  void operations(const CollectivesSection& section, std::vector<Integer>& operation_of) {
    SqliteInsert insert{db_, "INSERT INTO operations VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"};
    for (std::size_t row = 0; row < section.operations.size(); ++row) {
      const Operation& operation = section.operations[row];
      for (const std::uint32_t member : operation.members) operation_of[member] = whole(row);
      insert(whole(row), id(operation.group), id(operation.op), recorded(operation.sequence), recorded(operation.bytes),
             whole(operation.members.size()), std::int64_t{operation.complete}, id(operation.first_rank),
             id(operation.last_rank), ns_of(operation.first_start), ns_of(operation.last_start),
             operation.why_no_wait.empty() ? Integer{operation.wait_ns} : std::nullopt,
             operation.why_no_transfer.empty() ? Integer{operation.transfer_ns} : std::nullopt);
    }
  }

  bool counters() {
    SqliteInsert insert{db_, "INSERT INTO counters VALUES(?,?,?,?)"};
    SqliteInsert sample{db_, "INSERT INTO samples VALUES(?,?,?)"};
    for (std::size_t row = 0; row < run_.counters().size(); ++row) {
      const CounterTrack& track = run_.counters()[row];
      insert(whole(row), std::int64_t{track.process}, id(track.rank), id(track.name));
      for (const CounterSample& value : run_.samples_of(track)) {
        if (std::isfinite(value.value)) sample(whole(row), ns_of(value.time), value.value);
        if (!go_on()) return false;
      }
    }
    return true;
  }

  void steps() {
    const StepsResult found = find_steps(run_, ClockTrust{run_}, {});
    if (!found.section) return;
    SqliteInsert insert{db_, "INSERT INTO steps VALUES(?,?,?,?,?,?)"};
    for (const Step& step : found.section->steps) {
      insert(step.index, ns_of(step.time.begin), ns_of(step.time.end), step.wall_ns, std::int64_t{step.complete},
             std::int64_t{step.warm_up});
    }
    SqliteInsert windows{db_, "INSERT INTO rank_steps VALUES(?,?,?,?,?)"};
    for (const StepWindow& step : found.section->windows) {
      windows(id(step.rank), step.index, ns_of(step.window.begin), ns_of(step.window.end), std::int64_t{step.complete});
    }
  }

  void quality() {
    SqliteInsert insert{db_, "INSERT INTO quality VALUES(?,?,?,?)"};
    for (const CounterInfo& info : counter_table()) {
      const auto value = static_cast<std::int64_t>(run_.quality().of(info.counter));
      if (value > 0) insert(info.name, value, name_of(info.severity), advice_for(info.counter, run_.info().source));
    }
  }

  const Run& run_;
  SqliteDatabase& db_;
  const Progress& progress_;
  std::size_t rows_ = 0;
};

}  // namespace

Result<void> write_sqlite(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  RS_TRY(auto place, OutputPlace::file(out));
  SqliteDatabase database{place.path()};
  if (!Tables{run, database, progress}.write())
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
  RS_TRY_VOID(database.finish(out));
  return place.commit();
}

}  // namespace rankscope::analyzer
