// What RunBuilder keeps until build(): rows that have no place in a Run yet, and the steps of freezing it.
#pragma once

#include <map>
#include <memory>
#include <string>
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
  std::vector<PendingSample> samples;
  std::vector<std::uint32_t> collective_span;  // ticket per collective
  std::map<std::pair<std::uint32_t, std::vector<RankId>>, GroupId> groups;

  AttributeStore::Place open_set = AttributeStore::nowhere;  // the only set that can still grow
  std::vector<LateAttribute> late_of_spans;
  std::vector<LateAttribute> late_of_marks;

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
