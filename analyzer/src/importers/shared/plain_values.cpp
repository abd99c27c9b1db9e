#include "importers/shared/plain_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {

PlainValues::PlainValues() {
  nodes_.resize(3);
  nodes_[no].kind = nodes_[yes].kind = Kind::boolean;
  nodes_[yes].count = 1;
}

std::optional<ValueRef> PlainValues::add(Node node) {
  if (nodes_.size() >= most) return std::nullopt;
  nodes_.push_back(node);
  return static_cast<ValueRef>(nodes_.size() - 1);
}

std::optional<ValueRef> PlainValues::integer(std::int64_t value) {
  Node node;
  node.kind = Kind::integer;
  node.integer = value;
  return add(node);
}

std::optional<ValueRef> PlainValues::real(double value) {
  Node node;
  node.kind = Kind::real;
  node.real = value;
  return add(node);
}

std::optional<ValueRef> PlainValues::text(std::string_view value) {
  if (value.size() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  Node node;
  node.kind = Kind::text;
  node.count = static_cast<std::uint32_t>(value.size());
  node.text = value.data();
  return add(node);
}

std::optional<ValueRef> PlainValues::list() {
  Node node;
  node.kind = Kind::list;
  node.items = {0, 0};
  return add(node);
}

std::optional<ValueRef> PlainValues::map() {
  Node node;
  node.kind = Kind::map;
  node.items = {0, 0};
  return add(node);
}

// A container that has to grow moves to the end with twice the room, so that appending one by one stays linear.
bool PlainValues::append(ValueRef to, std::span<const ValueRef> items) {
  Node& node = nodes_[to];
  if (node.kind != Kind::list && node.kind != Kind::map) return false;
  const std::size_t needed = node.count + items.size();
  if (needed > node.items.capacity) {
    const std::size_t capacity = node.count == 0 ? needed : std::max<std::size_t>(needed, 2 * node.items.capacity);
    if (items_.size() + capacity > most) return false;
    const std::size_t first = items_.size();
    items_.resize(first + capacity);
    std::copy_n(items_.begin() + node.items.first, node.count, items_.begin() + static_cast<std::ptrdiff_t>(first));
    node.items = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(capacity)};
  }
  std::ranges::copy(items, items_.begin() + node.items.first + node.count);
  node.count = static_cast<std::uint32_t>(needed);
  return true;
}

std::string_view PlainValues::keep(std::string value) { return kept_.emplace_back(std::move(value)); }

std::string_view PlainValues::text_of(ValueRef value) const {
  const Node& node = nodes_[value];
  return node.kind == Kind::text ? std::string_view{node.text, node.count} : std::string_view{};
}

std::optional<std::int64_t> PlainValues::number_of(ValueRef value) const {
  const Node& node = nodes_[value];
  switch (node.kind) {
    case Kind::integer:
      return node.integer;
    case Kind::boolean:
      return node.count;
    case Kind::real:
      if (std::isfinite(node.real) && std::abs(node.real) < 9e18) return static_cast<std::int64_t>(node.real);
      return std::nullopt;
    case Kind::text:
      return number_from<std::int64_t>(text_of(value));
    case Kind::none:
    case Kind::list:
    case Kind::map:
      return std::nullopt;
  }
  return std::nullopt;
}

std::span<const ValueRef> PlainValues::items_of(ValueRef value) const {
  const Node& node = nodes_[value];
  if (node.kind != Kind::list && node.kind != Kind::map) return {};
  return std::span{items_}.subspan(node.items.first, node.count);
}

ValueRef PlainValues::find(ValueRef map, std::string_view key) const {
  if (!is_map(map)) return none;
  const std::span<const ValueRef> items = items_of(map);
  if (items.size() > 2 * most_keys) return none;
  for (std::size_t i = items.size(); i >= 2; i -= 2)
    if (text_of(items[i - 2]) == key) return items[i - 1];
  return none;
}

}  // namespace rankscope::analyzer
