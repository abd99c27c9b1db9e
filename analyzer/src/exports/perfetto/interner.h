// The interned strings of one packet sequence at a time: categories, names of events, names and values of arguments.
#pragma once

#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <vector>

#include "exports/perfetto/fields.h"
#include "exports/perfetto/intern_table.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::perfetto {

/// Arguments that are no attributes of the recording.
enum class Key : std::uint8_t {
  cut,
  group,
  sequence,
  op,
  bytes,
  dtype,
  peer,
  state,
  enqueued,
  members,
  waited_for,
  wait,
  transfer,
  clamped,
  launch_late
};
inline constexpr std::size_t key_count = 15;
[[nodiscard]] std::string_view name_of(Key key);

/// Numbers strings, and remembers which of them the next packet must declare.
class Interner {
 public:
  explicit Interner(const Run& run);

  void begin_sequence();
  std::uint32_t category(SpanKind kind) { return category(static_cast<std::uint32_t>(kind), name_of(kind)); }
  std::uint32_t mark_category() { return category(span_kind_count, "mark"); }
  std::uint32_t event_name(StringId id) { return number(event_names_, interned::event_names, id); }
  std::uint32_t annotation_name(StringId id) { return number(annotation_names_, interned::annotation_names, id); }
  std::uint32_t annotation_name(Key key);
  std::uint32_t value(StringId id) { return number(values_, interned::string_values, id); }

  /// Adds the strings that were used for the first time since the last call to a packet.
  void declare(protozero::pbf_writer& packet) {
    if (!fresh_.empty()) declare_fresh(packet);
  }

 private:
  struct Fresh {
    Field field;
    std::uint32_t iid;
    std::string_view text;
  };

  std::uint32_t category(std::uint32_t index, std::string_view name);
  std::uint32_t number(InternTable& table, Field field, StringId id) {
    if (!id.is_set()) id = empty_;
    const auto entry = table.of(id);
    if (entry.fresh) fresh_.push_back({field, entry.iid, id == empty_ ? std::string_view{} : run_.text(id)});
    return entry.iid;
  }
  void declare_fresh(protozero::pbf_writer& packet);

  const Run& run_;
  StringId empty_;  // stands for a string that is not set
  InternTable event_names_;
  InternTable annotation_names_;
  InternTable values_;
  std::uint32_t categories_ = 0;  // bits: already declared
  std::uint32_t keys_ = 0;
  std::vector<Fresh> fresh_;
};

}  // namespace rankscope::analyzer::perfetto
