// Key/value pairs of spans and marks, packed into bytes: a trace has millions, and most fit in two to four bytes.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope {

/// JSON that is neither an integer nor a string (list, fraction, true, integer above 2^63), kept as its text.
struct JsonText {
  StringId text{};
};

/// Which member of an AttributeValue counts.
enum class AttributeKind : std::uint8_t { number, text, json };

/// The value of an attribute: an integer, a text, or JSON in its own words.
struct AttributeValue {
  AttributeKind kind = AttributeKind::number;
  StringId text{};          ///< of a text or JSON
  std::int64_t number = 0;  ///< of a number

  AttributeValue() = default;
  AttributeValue(std::int64_t value) : number(value) {}                            // NOLINT: meant to convert
  AttributeValue(StringId value) : kind(AttributeKind::text), text(value) {}       // NOLINT: meant to convert
  AttributeValue(JsonText value) : kind(AttributeKind::json), text(value.text) {}  // NOLINT: meant to convert
  bool operator==(const AttributeValue&) const = default;
};

/// What belongs to a span or mark, e.g. "index" = 3.
struct Attribute {
  StringId key{};
  AttributeValue value{};
  bool operator==(const Attribute&) const = default;
};

/// The attributes of one owner, decoded while one walks over them.
class AttributeRange {
 public:
  /// Decodes one attribute at a time, so a reference to it is valid only until the next step.
  class Iterator {
   public:
    using value_type = Attribute;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    Iterator() = default;
    Iterator(const std::uint8_t* at, std::span<const StringId> keys) : next_(at), keys_(keys) { step(); }
    Attribute operator*() const { return current_; }
    const Attribute* operator->() const { return &current_; }
    Iterator& operator++() {
      step();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      step();
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void step();
    const std::uint8_t* at_ = nullptr;    // where current_ was read; null at the end
    const std::uint8_t* next_ = nullptr;  // behind it
    std::span<const StringId> keys_;
    Attribute current_;
  };

  AttributeRange() = default;
  AttributeRange(const std::uint8_t* first, std::span<const StringId> keys) : first_(first), keys_(keys) {}
  [[nodiscard]] Iterator begin() const { return first_ == nullptr ? Iterator{} : Iterator{first_, keys_}; }
  [[nodiscard]] Iterator end() const { return {}; }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  /// The value of a key, or nothing; the first one if it was given twice.
  [[nodiscard]] std::optional<AttributeValue> find(StringId key) const;

 private:
  const std::uint8_t* first_ = nullptr;
  std::span<const StringId> keys_;
};

/// Sets of attributes one behind the other. A set is named by its place, the offset of its first byte.
class AttributeStore {
 public:
  using Place = std::uint32_t;
  static constexpr Place nowhere = 0xFFFFFFFF;

  /// Adds to the set that was begun last; `place` is that set, or `nowhere` to begin one. Returns the set's place, or
  /// `place` itself if there are none, or if 4 GiB are used up and these attributes are lost.
  [[nodiscard]] Place add(Place place, std::span<const Attribute> attributes);
  [[nodiscard]] AttributeRange at(Place place) const {
    return place == nowhere ? AttributeRange{} : AttributeRange{bytes_.data() + place, keys_};
  }
  [[nodiscard]] std::size_t byte_count() const { return used_; }
  void shrink();

 private:
  std::uint32_t index_of(StringId key);

  std::size_t used_ = 0;             // of bytes_: it grows ahead
  std::vector<std::uint8_t> bytes_;  // items of a set: varint head, varint value; a head of 0 ends the set
  std::vector<StringId> keys_;
  std::vector<std::uint32_t> key_index_;  // by StringId: 1 + place in keys_, 0 = not there; there are few keys
};

}  // namespace rankscope
