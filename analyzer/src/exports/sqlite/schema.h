// The tables of the SQLite export. docs/sqlite.md explains them; a change of meaning raises user_version.
#pragma once

namespace rankscope::analyzer {

inline constexpr const char* sqlite_tables = R"sql(
PRAGMA application_id = 0x526B5363;
PRAGMA user_version = 1;
CREATE TABLE run(source TEXT NOT NULL, world_size INTEGER, origin_unix_ns INTEGER, clock_method TEXT NOT NULL,
  clock_error_ns INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
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
inline constexpr const char* sqlite_indices = R"sql(
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

}  // namespace rankscope::analyzer
