// The values of one file, as the decoders of pickle and JSON leave them: small nodes that refer to each other by
// number. A node that is referred to often is stored once, so that no input grows beyond a fixed multiple of its size.
// Who reads the values follows a fixed number of levels and never recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::analyzer {

using ValueRef = std::uint32_t;

/// Why a dump could not be read.
enum class FaultKind : std::uint8_t {
  empty,    ///< no bytes
  cut,      ///< the file ends in the middle
  refused,  ///< more than a dump contains: an opcode that executes something, too many values
  damaged,  ///< bytes that no writer of dumps leaves
  foreign,  ///< readable, but not a dump
};
struct Fault {
  FaultKind kind = FaultKind::damaged;
  std::string why{};  ///< a predicate: "ends in the middle of a string (at byte 812)"
  bool operator==(const Fault&) const = default;
};

/// Owns nodes; texts are views of the input, which must live as long, or of texts that keep() stored.
class PlainValues {
 public:
  static constexpr std::size_t most = std::size_t{32} << 20;  ///< nodes, and items of lists and maps
  static constexpr std::size_t most_keys = 1024;
  static constexpr ValueRef none = 0;
  static constexpr ValueRef no = 1;
  static constexpr ValueRef yes = 2;

  PlainValues();

  // Makers; they fail (nothing) once there are too many values.
  [[nodiscard]] std::optional<ValueRef> integer(std::int64_t value);
  [[nodiscard]] std::optional<ValueRef> real(double value);
  [[nodiscard]] std::optional<ValueRef> text(std::string_view value);
  [[nodiscard]] std::optional<ValueRef> list();
  [[nodiscard]] std::optional<ValueRef> map();
  /// Appends items to a list, or keys and values in turn to a map. False: it is neither, or there are too many.
  [[nodiscard]] bool append(ValueRef to, std::span<const ValueRef> items);
  /// A copy of a text that lives as long as the values.
  [[nodiscard]] std::string_view keep(std::string value);

  // Readers; a value of another kind has no number, an empty text or no items.
  [[nodiscard]] bool is_list(ValueRef value) const { return nodes_[value].kind == Kind::list; }
  [[nodiscard]] bool is_map(ValueRef value) const { return nodes_[value].kind == Kind::map; }
  [[nodiscard]] bool is_text(ValueRef value) const { return nodes_[value].kind == Kind::text; }
  [[nodiscard]] std::string_view text_of(ValueRef value) const;
  /// Also of a real number and of a text of digits: the JSON form writes some numbers as texts.
  [[nodiscard]] std::optional<std::int64_t> number_of(ValueRef value) const;
  /// Of a list; of a map keys and values in turn.
  [[nodiscard]] std::span<const ValueRef> items_of(ValueRef value) const;
  /// The last value of a key; `none` if there is no such key, or if there are more than `most_keys`: no map in which
  /// keys are looked up has so many, and one that many places refer to must not be searched again and again.
  [[nodiscard]] ValueRef find(ValueRef map, std::string_view key) const;

 private:
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, map };
  struct Items {
    std::uint32_t first;
    std::uint32_t capacity;
  };
  struct Node {
    Kind kind = Kind::none;
    std::uint32_t count = 0;  // bytes of a text, items of a container, 1 for true
    union {
      std::int64_t integer = 0;
      double real;
      const char* text;
      Items items;
    };
  };
  [[nodiscard]] std::optional<ValueRef> add(Node node);

  std::vector<Node> nodes_;
  std::vector<ValueRef> items_;
  std::deque<std::string> kept_;
};

}  // namespace rankscope::analyzer
