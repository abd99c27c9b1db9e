#include "rankscope/core/model/attributes.h"

#include <algorithm>

#include "rankscope/core/result.h"

namespace rankscope {
namespace {

// Head of an item: 1 + 4 * (index of the key) + kind, so that 31 keys need one byte and 0 is free to end a set.
constexpr std::uint64_t kinds = 4;
constexpr std::size_t largest_item = 20;  // two varints of ten bytes

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

std::uint64_t take(const std::uint8_t*& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
}

/// Writes a varint; returns its end.
std::uint8_t* put(std::uint64_t value, std::uint8_t* at) {
  for (; value >= 0x80; value >>= 7U) *at++ = static_cast<std::uint8_t>(value | 0x80U);
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

}  // namespace

void AttributeRange::Iterator::step() {
  at_ = next_;
  const std::uint64_t head = take(next_);
  if (head == 0) {
    *this = {};
    return;
  }
  current_.key = keys_[(head - 1) / kinds];
  const auto kind = static_cast<AttributeKind>((head - 1) % kinds);
  const std::uint64_t value = take(next_);
  current_.value = {};
  current_.value.kind = kind;
  if (kind == AttributeKind::number)
    current_.value.number = unzigzag(value);
  else
    current_.value.text = StringId{static_cast<std::uint32_t>(value)};
}

std::optional<AttributeValue> AttributeRange::find(StringId key) const {
  for (const Attribute& attribute : *this)
    if (attribute.key == key) return attribute.value;
  return std::nullopt;
}

AttributeStore::Place AttributeStore::add(Place place, std::span<const Attribute> attributes) {
  const std::size_t most = largest_item * attributes.size() + 1;
  if (attributes.empty() || used_ + most >= nowhere) return place;
  if (bytes_.size() < used_ + most) bytes_.resize(std::max(2 * bytes_.size(), used_ + most));
  if (place == nowhere)
    place = static_cast<Place>(used_);
  else
    --used_;  // the 0 that ended the set
  std::uint8_t* end = bytes_.data() + used_;
  for (const auto& [key, value] : attributes) {
    end = put(1 + kinds * index_of(key) + static_cast<std::uint64_t>(value.kind), end);
    end = put(value.kind == AttributeKind::number ? zigzag(value.number) : value.text.value, end);
  }
  *end++ = 0;
  used_ = static_cast<std::size_t>(end - bytes_.data());
  return place;
}

void AttributeStore::shrink() {
  bytes_.resize(used_);
  bytes_.shrink_to_fit();
}

std::uint32_t AttributeStore::index_of(StringId key) {
  RS_CHECK(key.is_set());
  if (key.index() >= key_index_.size()) key_index_.resize(key.index() + 1, 0);
  std::uint32_t& place = key_index_[key.index()];
  if (place == 0) {
    keys_.push_back(key);
    place = static_cast<std::uint32_t>(keys_.size());
  }
  return place - 1;
}

}  // namespace rankscope
