// Finds secrets in one string: by the names under which they stand, by their own form, and in addresses and commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "secrets/command_rules.h"
#include "secrets/names.h"

namespace rankscope::secrets {

/// The characters of a string from `begin` to before `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Looks once at each word. Used once.
class TextScan {
 public:
  /// `commands`: how commands in the text are judged.
  explicit TextScan(std::string_view text, Guesses commands) : text_(text), commands_(commands) {}

  /// What must be hidden, in no order; ranges may overlap, and none of them is hidden already.
  [[nodiscard]] std::vector<Range> find();

 private:
  /// How name and value are separated, and where the value begins.
  struct Separator {
    std::size_t value = 0;     ///< where it begins
    bool assigns = false;      ///< NAME=VALUE, without spaces
    bool name_quoted = false;  ///< "NAME": VALUE
    bool is_equals = false;
  };

  void word(std::size_t begin, std::size_t end);
  void dash(std::size_t begin);
  void token(std::size_t begin);
  void private_key(std::size_t begin);
  void bearer(std::size_t begin, std::size_t end);
  void address(std::size_t begin, std::size_t end);
  void user_of_address(std::string_view scheme, Range user, std::size_t host);
  void named_value(std::size_t begin, std::size_t end);
  void value(NameKind kind, std::string_view name, const Separator& separator);
  void header_value(std::size_t begin);
  void commands();

  [[nodiscard]] char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  [[nodiscard]] std::size_t skip_spaces(std::size_t place) const;
  [[nodiscard]] bool separator_after(std::size_t end, Separator& found) const;
  [[nodiscard]] bool in_query(std::size_t begin) const;
  [[nodiscard]] Range value_at(std::size_t begin);
  [[nodiscard]] std::size_t end_of_bracket(std::size_t begin);
  /// The first place from `begin` on at which `ends` holds, or the end of the text. Each kind of search goes over the
  /// text once, however many values overlap.
  template <class Ends>
  [[nodiscard]] std::size_t next_end(std::size_t begin, Range& known, Ends ends) const;
  [[nodiscard]] std::string_view part(Range range) const { return text_.substr(range.begin, range.end - range.begin); }
  void hide(Range range);

  std::string_view text_;
  Guesses commands_;
  std::vector<Range> found_;
  Range plain_{};          // searched before by next_end
  Range double_quoted_{};  // the same
  Range single_quoted_{};
  Range key_block_{};
  std::vector<std::size_t> bracket_ends_;  // by place; empty: not looked for yet
  bool has_options_ = false;
};

}  // namespace rankscope::secrets
