#include "exports/perfetto/interner.h"

#include <array>

#include "rankscope/core/model/run.h"
#include "words/json_text.h"

namespace rankscope::analyzer::perfetto {

std::string_view name_of(Key key) {
  constexpr std::array<std::string_view, key_count> names{
      "cut",         "group",   "seq",        "op",      "bytes",       "dtype",      "peer",           "state",
      "enqueued_ns", "members", "waited_for", "wait_ns", "transfer_ns", "clamped_ns", "launch_after_ns"};
  return names[static_cast<std::size_t>(key)];
}

Interner::Interner(const Run& run)
    : run_(run),
      empty_{static_cast<std::uint32_t>(run.strings().size())},
      event_names_(run.strings().size() + 1),
      annotation_names_(run.strings().size() + 1, key_count),
      values_(run.strings().size() + 1) {}

void Interner::begin_sequence() {
  event_names_.begin_sequence();
  annotation_names_.begin_sequence();
  values_.begin_sequence();
  categories_ = keys_ = 0;
  fresh_.clear();
}

std::uint32_t Interner::category(std::uint32_t index, std::string_view name) {
  if ((categories_ >> index & 1U) == 0) {
    categories_ |= 1U << index;
    fresh_.push_back({interned::categories, index + 1, name});
  }
  return index + 1;
}

std::uint32_t Interner::annotation_name(Key key) {
  const auto index = static_cast<std::uint32_t>(key);
  if ((keys_ >> index & 1U) == 0) {
    keys_ |= 1U << index;
    fresh_.push_back({interned::annotation_names, index + 1, name_of(key)});
  }
  return index + 1;
}

void Interner::declare_fresh(protozero::pbf_writer& packet) {
  protozero::pbf_writer data{packet, packet::interned_data};
  for (const Fresh& fresh : fresh_) {
    protozero::pbf_writer entry{data, fresh.field};
    entry.add_uint64(interned::iid, fresh.iid);
    entry.add_string(interned::name, valid_utf8(fresh.text));
  }
  fresh_.clear();
}

}  // namespace rankscope::analyzer::perfetto
