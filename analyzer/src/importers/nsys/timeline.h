// Where the rows of one export go: processes, lanes and run time.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "importers/nsys/census.h"
#include "importers/nsys/database.h"
#include "importers/nsys/ids.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer::nsys {

class Names {
 public:
  [[nodiscard]] static Result<Names> of(const Database& database, RunBuilder& builder);

  /// The text of an id; valid until the next call. Nothing if the export lacks it.
  [[nodiscard]] std::optional<std::string_view> text(std::int64_t id);
  /// The same as a string of the Run; "[unknown]", counted, if the export lacks it.
  [[nodiscard]] StringId intern(std::optional<std::int64_t> id);
  [[nodiscard]] StringId intern(std::string_view text) { return builder_->intern(text); }

 private:
  Names(Rows by_id, RunBuilder& builder) : by_id_(std::move(by_id)), builder_(&builder) {}

  struct Slot {
    std::int64_t id = -1;
    StringId name{};
  };
  static constexpr std::size_t slots = 1 << 14;  // direct-mapped: millions of ids may each occur once
  Rows by_id_;
  RunBuilder* builder_;
  std::vector<Slot> cache_ = std::vector<Slot>(slots);
};

/// Puts the rows of one file into the builder.
class Timeline {
 public:
  /// `shift` is what must be added to a time of the file to get run time.
  Timeline(RunBuilder& builder, const Census& census, Names names, std::int64_t shift);

  void add_process(ProcessKey key, Process process);
  void name_thread(std::int64_t global_tid, std::string name);

  [[nodiscard]] RunBuilder& builder() { return builder_; }
  [[nodiscard]] Names& names() { return names_; }
  [[nodiscard]] const Census& census() const { return census_; }
  [[nodiscard]] bool has(ProcessKey key) const { return rows_.contains(key); }
  [[nodiscard]] std::uint32_t row(ProcessKey key) const { return rows_.at(key).row; }
  [[nodiscard]] RankId rank(ProcessKey key) const { return rows_.at(key).rank; }

  /// The process of a row: NULL stands for the only process of the file. Nothing for one that the census did not see.
  [[nodiscard]] std::optional<ProcessKey> process(std::optional<std::int64_t> global_id) const;
  /// NULL stands for a thread that the export does not name.
  [[nodiscard]] LaneId thread(ProcessKey key, std::optional<std::int64_t> global_tid);
  /// A stream of a process; "stream 7", or "GPU 1 stream 7" where the process has several devices.
  [[nodiscard]] LaneId stream(ProcessKey key, std::int64_t device, std::int64_t stream);
  /// A lane for ranges that do not nest, as start/end ranges do.
  [[nodiscard]] LaneId ranges(ProcessKey key);
  [[nodiscard]] std::int64_t device_of_context(ProcessKey key, std::optional<std::int64_t> context,
                                               std::optional<std::int64_t> otherwise) const;

  /// Run time of [begin, end]; an absent end is the end of the recording, marked as cut. Nothing, counted, for a row
  /// whose begin is absent or cannot be a time. Widens what the process was seen to do.
  struct When {
    TimeRange time;
    std::uint8_t flags = 0;
  };
  [[nodiscard]] std::optional<When> when(ProcessKey key, std::optional<std::int64_t> begin,
                                         std::optional<std::int64_t> end);
  [[nodiscard]] std::optional<RunTime> moment(ProcessKey key, std::optional<std::int64_t> time);
  /// Writes down when each process was seen.
  void finish();

 private:
  struct ProcessRows {
    std::uint32_t row = 0;
    RankId rank{};
    std::map<std::pair<std::int64_t, std::int64_t>, LaneId> streams{};
    LaneId ranges{};
    std::optional<TimeRange> seen{};
  };
  [[nodiscard]] RunTime run_time(std::int64_t time) const { return at(time + shift_); }

  RunBuilder& builder_;
  const Census& census_;
  Names names_;
  std::int64_t shift_;
  std::map<ProcessKey, ProcessRows> rows_;
  std::unordered_map<std::int64_t, LaneId> threads_;
  std::unordered_map<std::int64_t, std::string> thread_names_;
};

/// How much one row adds to a list of attributes: nothing if the column was absent or NULL.
class SpanAttributes {
 public:
  SpanAttributes(RunBuilder& builder, std::uint32_t ticket) : builder_(builder), ticket_(ticket) {}
  void number(StringId key, std::optional<std::int64_t> value) const {
    if (value) builder_.add_attribute(ticket_, key, *value);
  }
  void text(StringId key, StringId value) const {
    if (value.is_set()) builder_.add_attribute(ticket_, key, value);
  }
  void json(StringId key, std::string_view value) const {
    if (!value.empty()) builder_.add_attribute(ticket_, key, JsonText{builder_.intern(value)});
  }

 private:
  RunBuilder& builder_;
  std::uint32_t ticket_;
};

}  // namespace rankscope::analyzer::nsys
