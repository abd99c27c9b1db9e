// One rank of a Run as one file of Kineto's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exports/kineto/rows.h"
#include "exports/shared/text_writer.h"
#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Tells now and then how many of all spans are written.
class SpanProgress {
 public:
  SpanProgress(const Progress& progress, std::size_t spans) : progress_(progress), spans_(spans) {}
  /// False to cancel.
  bool step() {
    constexpr std::size_t between = 1 << 16;
    if (++written_ % between != 0 || !progress_) return true;
    return progress_(static_cast<double>(written_) / static_cast<double>(spans_));
  }

 private:
  const Progress& progress_;
  std::size_t spans_;
  std::size_t written_ = 0;
};

/// What all files of an export share.
struct KinetoWords {
  explicit KinetoWords(const Run& run);
  /// As a JSON string.
  [[nodiscard]] std::string_view text(StringId id) const {
    return id.is_set() ? std::string_view{quoted[id.index()]} : std::string_view{"\"\""};
  }

  std::vector<std::string> quoted;    ///< every string of the run as JSON, by StringId
  std::vector<std::uint32_t> onward;  ///< rows of Run::links() by the span that they start from
  std::vector<std::int64_t> joined;   ///< by span: number made for a launch whose ends carry none; 0 = none
  std::int64_t zero_ns = 0;           ///< run time of ts 0
};

class KinetoFile {
 public:
  KinetoFile(const Run& run, RankId rank, const KinetoWords& words, TextWriter& out, SpanProgress& progress);

  /// False if cancelled.
  [[nodiscard]] bool write();

 private:
  using Row = KinetoRow;

  void header();
  void devices();
  void distributed();
  void name_rows();
  bool lane(const Lane& lane, const Row& row);
  void span(const Span& span, const Lane& lane, const Row& row);
  void mark(const Mark& mark, const Row& row);
  void counter(const CounterTrack& track);
  void collective(const Span& span, const Row& row);
  void collective_arguments(const Collective& member);
  void own_arguments(const Span& span, std::string_view category, std::string_view name);
  void flow(const Span& span, const Row& row, char phase, const Link& link);
  void flows(const Span& span, const Row& row);
  void metadata(std::string_view what, const Row& row, std::string_view key, std::string_view json);

  void event(char phase, std::string_view category, std::string_view quoted_name);
  void place(const Row& row, RunTime time);
  void arguments(const AttributeRange& attributes, const Span* span, const Lane& lane, StringId left_out);
  void argument(std::string_view quoted_key);
  void argument(std::string_view key, std::int64_t value);
  void close();
  [[nodiscard]] std::string quoted_name(const Span& span, bool ours) const;
  [[nodiscard]] bool derived_from_marks(const CounterTrack& track) const;
  [[nodiscard]] std::string_view quoted(StringId id) const { return words_.text(id); }

  const Run& run_;
  RankId rank_;
  std::uint32_t process_;
  const KinetoWords& words_;
  TextWriter& out_;
  SpanProgress& progress_;
  std::vector<Row> rows_;  // by lane
  bool keeps_rows_;        // in the own block
  bool has_memory_marks_ = false;
  bool first_event_ = true;
  bool first_argument_ = true;
  StringId index_;
  StringId category_;
  StringId correlation_;
  StringId device_;
  StringId stream_;
};

}  // namespace rankscope::analyzer
