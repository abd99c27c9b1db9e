#include "rankscope/core/model/attributes.h"

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

AttributeStore::Place AttributeStore::add(Place place, StringId key, AttributeValue value) {
  if (bytes_.size() + largest_item + 1 >= nowhere) return place;
  if (place == nowhere)
    place = static_cast<Place>(bytes_.size());
  else
    bytes_.pop_back();  // the 0 that ended the set
  put(1 + kinds * index_of(key) + static_cast<std::uint64_t>(value.kind));
  put(value.kind == AttributeKind::number ? zigzag(value.number) : value.text.value);
  bytes_.push_back(0);
  return place;
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

void AttributeStore::put(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80U));
  bytes_.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace rankscope
