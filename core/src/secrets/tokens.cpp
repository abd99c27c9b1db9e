#include "secrets/tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "secrets/shapes.h"

namespace rankscope::secrets {
namespace {

/// What follows the prefix.
enum class Alphabet : std::uint8_t { letters_and_digits, with_lines, with_points };

/// How the tokens of a service begin, and how many characters follow at least.
struct TokenForm {
  std::string_view prefix;
  std::size_t rest;
  Alphabet alphabet;
};

using enum Alphabet;
// The prefixes are documented by the services; "eyJ" begins every JSON web token ('{"' in base64).
constexpr std::array forms{
    TokenForm{"ghp_", 30, letters_and_digits},
    TokenForm{"gho_", 30, letters_and_digits},
    TokenForm{"ghu_", 30, letters_and_digits},
    TokenForm{"ghs_", 30, letters_and_digits},
    TokenForm{"ghr_", 30, letters_and_digits},
    TokenForm{"github_pat_", 30, with_lines},
    TokenForm{"glpat-", 16, with_points},
    TokenForm{"gldt-", 16, with_lines},
    TokenForm{"glsa_", 20, with_lines},
    TokenForm{"gsk_", 20, letters_and_digits},
    TokenForm{"hf_", 20, letters_and_digits},
    TokenForm{"hvs.", 20, with_lines},
    TokenForm{"sk-", 20, with_lines},
    TokenForm{"sk_live_", 16, letters_and_digits},
    TokenForm{"sk_test_", 16, letters_and_digits},
    TokenForm{"rk_live_", 16, letters_and_digits},
    TokenForm{"SG.", 20, with_points},
    TokenForm{"shpat_", 20, letters_and_digits},
    TokenForm{"xoxb-", 16, with_lines},
    TokenForm{"xoxp-", 16, with_lines},
    TokenForm{"xoxa-", 16, with_lines},
    TokenForm{"xoxr-", 16, with_lines},
    TokenForm{"xoxs-", 16, with_lines},
    TokenForm{"xapp-", 16, with_lines},
    TokenForm{"xai-", 20, letters_and_digits},
    TokenForm{"AKIA", 16, letters_and_digits},
    TokenForm{"ASIA", 16, letters_and_digits},
    TokenForm{"AIza", 30, with_lines},
    TokenForm{"ya29.", 20, with_points},
    TokenForm{"npm_", 30, letters_and_digits},
    TokenForm{"nvapi-", 20, with_lines},
    TokenForm{"pypi-", 30, with_lines},
    TokenForm{"pplx-", 20, letters_and_digits},
    TokenForm{"pcsk_", 20, with_lines},
    TokenForm{"dckr_pat_", 16, with_lines},
    TokenForm{"dckr_oat_", 16, with_lines},
    TokenForm{"dop_v1_", 20, letters_and_digits},
    TokenForm{"dapi", 32, letters_and_digits},
    TokenForm{"r8_", 30, letters_and_digits},
    TokenForm{"rpa_", 30, letters_and_digits},
    TokenForm{"tgp_v1_", 20, with_lines},
    TokenForm{"lsv2_pt_", 20, with_lines},
    TokenForm{"eyJ", 40, with_points},
    TokenForm{"AGE-SECRET-KEY-", 30, letters_and_digits},
    TokenForm{"wandb_v1_", 20, with_lines},
};

constexpr std::array<bool, 256> first_letters = [] {
  std::array<bool, 256> table{};
  for (const TokenForm& form : forms) table[static_cast<unsigned char>(form.prefix.front())] = true;
  return table;
}();

bool belongs_to(Alphabet alphabet, char c) {
  switch (alphabet) {
    case Alphabet::letters_and_digits:
      return is_name_character(c) && c != '_' && c != '-';
    case Alphabet::with_lines:
      return is_name_character(c);
    case Alphabet::with_points:
      return is_name_character(c) || c == '.' || c == '+' || c == '/' || c == '=';
  }
  return false;
}

/// Names of packages and functions begin with some of the prefixes, too, but have no digits.
bool fits(const TokenForm& form, std::string_view rest) {
  constexpr auto ambiguous = std::to_array<std::string_view>({"sk-", "pypi-", "xapp-", "dapi"});
  if (rest.size() < form.rest) return false;
  return std::ranges::find(ambiguous, form.prefix) == ambiguous.end() ||
         rest.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

bool begins_token(char c) { return first_letters[static_cast<unsigned char>(c)]; }

std::size_t token_length(std::string_view text) {
  for (const TokenForm& form : forms) {
    if (!text.starts_with(form.prefix)) continue;
    std::size_t end = form.prefix.size();
    while (end < text.size() && belongs_to(form.alphabet, text[end])) ++end;
    // A longer word is a name that only begins like a token.
    const bool whole = end == text.size() || !is_name_character(text[end]);
    if (whole && fits(form, text.substr(form.prefix.size(), end - form.prefix.size()))) return end;
  }
  return 0;
}

}  // namespace rankscope::secrets
