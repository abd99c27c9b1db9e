// What RunBuilder keeps until build(): rows that have no place in a Run yet, and the steps of freezing it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope {

struct PendingSample {
  std::uint32_t process;
  StringId counter;
  CounterSample sample;
};

/// order[new] = old, and its inverse; both empty: everything stays where it is.
struct Permutation {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> place_of;

  [[nodiscard]] bool moves() const { return !order.empty(); }
  [[nodiscard]] std::uint32_t place(std::uint32_t old) const { return moves() ? place_of[old] : old; }
};

/// An attribute of an owner that has some already, which others lie behind.
struct LateAttribute {
  std::uint32_t row;
  Attribute attribute;
};

/// Whose attributes are added: the table of places, the owner's row, and its late attributes.
struct Owner {
  std::vector<AttributeStore::Place>& places;
  std::uint32_t row;
  std::vector<LateAttribute>& late;
};

struct RunBuilder::Pending {
  explicit Pending(Texts wanted) : texts(wanted) {}

  Texts texts;
  std::vector<PendingSample> samples;
  std::vector<std::uint32_t> collective_span;  // ticket per collective
  std::map<std::pair<std::uint32_t, std::vector<RankId>>, GroupId> groups;

  AttributeStore::Place open_set = AttributeStore::nowhere;  // the only set that can still grow
  std::vector<LateAttribute> late_of_spans;
  std::vector<LateAttribute> late_of_marks;
  std::vector<Attribute> scratch;

  // What was hidden. Strings as they were recorded are kept only until build().
  std::unordered_map<std::string, StringId> hidden_texts;       // with the string that stands for each
  std::set<std::pair<std::string, std::string>> hidden_values;  // name and value
  std::vector<StringId> replaced;                               // values that may be used by nothing else
  std::vector<std::uint8_t> key_kinds;                          // by StringId: see is_secret_key()

  /// A string that the run does not have yet, without its secrets.
  StringId add_text(Run& run, std::string_view text);
  [[nodiscard]] bool is_secret_key(const Run& run, StringId key);
  /// The value as it may be shown under its name.
  [[nodiscard]] AttributeValue shown(Run& run, StringId key, AttributeValue value);
  /// The attributes of one owner; usually the very same.
  [[nodiscard]] std::span<const Attribute> shown(Run& run, std::span<const Attribute> attributes);
  /// The same for facts; the id of the value that may be shown.
  [[nodiscard]] StringId shown(Run& run, StringId key, StringId value);
  void hide_facts(Run& run);
  void hide_run_facts(Run& run);
  /// Overwrites values that stood only under secret names.
  void forget_replaced(Run& run) const;
  /// Takes over what a part has hidden; `now`: the new ids of its strings.
  void take_hidden(const Pending& part, std::span<const StringId> now);

  void describe(Run& run, const Owner& owner, std::span<const Attribute> attributes);
  /// Gives late attributes to their owners. Before rows are moved.
  void settle(Run& run);
  void settle(Run& run, std::vector<LateAttribute>& late, std::vector<AttributeStore::Place>& places);
  void sort_processes(Run& run);
  static void unite_facts(std::vector<std::pair<std::string, std::string>>& facts);
  static void sort_devices(Run& run, const Permutation& processes);
  static void sort_marks(Run& run);
  static void sort_links(Run& run, const Permutation& spans);
  void sort_lanes(Run& run);
  static void move_lanes(Run& run, const Permutation& order);
  void sort_spans(Run& run);
  static void order_collectives(Run& run);
  static void sort_collectives(Run& run);
  void sort_samples(const Run& run);
  void make_counters(Run& run);
  void close_lanes(Run& run);
  static void choose_ranks(Run& run);
  static void find_accelerators(Run& run);
  static void find_contested_ranks(Run& run);
  static void measure(Run& run);
  [[nodiscard]] static std::unique_ptr<Run> copy_of(const Run& run);
};

}  // namespace rankscope
