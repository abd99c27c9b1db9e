#include "secrets/shapes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rankscope::secrets {
namespace {

constexpr std::array<bool, 256> name_characters = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 128; ++c)
    table[c] = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
  return table;
}();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The letters in front, and whether only digits follow: "bf16" is ("bf", true).
struct Head {
  std::string_view letters;
  bool digits_follow;
};
Head head_of(std::string_view value) {
  const auto first = std::ranges::find_if_not(value, is_letter);
  const auto length = static_cast<std::size_t>(first - value.begin());
  return {value.substr(0, length), std::all_of(first, value.end(), is_digit)};
}

bool is_number_type(std::string_view value) {
  constexpr auto types =
      std::to_array<std::string_view>({"bf", "fp", "f", "tf", "int", "uint", "i", "u", "float", "mxfp", "nvfp", "w"});
  const auto [letters, digits_follow] = head_of(value);
  return digits_follow && std::ranges::find(types, letters) != types.end();
}

/// "4x2", "8G"
bool is_measure(std::string_view value) {
  return is_digit(value.front()) && std::ranges::count_if(value, is_letter) <= 2 &&
         std::ranges::all_of(value, [](char c) {
           return is_digit(c) || std::string_view{"xXkKmMgGbBsS"}.find(c) != std::string_view::npos;
         });
}

}  // namespace

bool is_name_character(char c) { return name_characters[static_cast<unsigned char>(c)]; }

bool is_short_number(std::string_view value, std::size_t most_digits) {
  constexpr std::size_t longest = 64;  // with signs and separators; longer values are not looked at
  if (value.size() > longest) return false;
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(value, is_digit));
  if (digits == 0 || digits > most_digits) return false;
  const auto fits = [](char c) { return is_digit(c) || std::string_view{"+-.,eE"}.find(c) != std::string_view::npos; };
  return std::ranges::all_of(value, fits);
}

bool is_placeholder(std::string_view value) {
  constexpr auto words =
      std::to_array<std::string_view>({"none", "null", "nil", "true", "false", "yes", "no", "str", "int", "bytes",
                                       "float", "bool", "optional", "tensor", "any", "string"});
  std::array<char, 8> lower{};
  if (value.empty() || value.size() > lower.size()) return value.empty();
  std::ranges::transform(value, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(words, std::string_view{lower.data(), value.size()}) != words.end();
}

bool mixes_letters_and_digits(std::string_view value) {
  if (std::ranges::none_of(value, is_digit) || std::ranges::none_of(value, is_letter)) return false;
  if (value.find_first_of("/\\:=[]{}()<> ") != std::string_view::npos || value.front() == '-' || value.front() == '.')
    return false;
  return !is_number_type(value) && !is_measure(value);
}

bool is_harmless_under_weak_name(std::string_view value) {
  constexpr std::size_t digits_of_a_count = 9;
  constexpr std::string_view brackets = "[{<";
  return value.empty() || brackets.find(value.front()) != std::string_view::npos ||
         is_short_number(value, digits_of_a_count);
}

bool is_hidden(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c == '*'; });
}

}  // namespace rankscope::secrets
