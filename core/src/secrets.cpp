#include "rankscope/core/secrets.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "secrets/command_rules.h"
#include "secrets/names.h"
#include "secrets/shapes.h"
#include "secrets/text_scan.h"

namespace rankscope {
namespace {

constexpr std::string_view hidden_word = "***";

/// How many ranges were not hidden by those before them.
std::size_t overwrite(std::span<const secrets::Range> ranges, std::span<char> text) {
  std::size_t changed = 0;
  for (const auto& [begin, end] : ranges) {
    const std::span<char> secret = text.subspan(begin, end - begin);
    if (secrets::is_hidden({secret.data(), secret.size()})) continue;
    std::ranges::fill(secret, '*');
    ++changed;
  }
  return changed;
}

std::string without_secrets_of_command(std::string_view word) {
  std::string text{word};
  overwrite(secrets::TextScan{word, secrets::Guesses::yes}.find(), text);
  return text;
}

/// A word of which no rule of commands says anything: NAME=VALUE, or any text.
std::string scrub_word(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return without_secrets_of_command(word);
  const std::string_view name = std::string_view{word}.substr(0, equals);
  const std::string_view value = std::string_view{word}.substr(equals + 1);
  const bool is_name = std::ranges::all_of(name, [](char c) { return secrets::is_name_character(c) || c == '.'; });
  if (!is_name || !secrets::is_secret_of_option(name, value)) return without_secrets_of_command(word);
  return format("{}={}", name, hidden_word);
}

}  // namespace

bool names_secret(std::string_view name) { return secrets::kind_of_name(name) != secrets::NameKind::harmless; }

bool is_secret_value(std::string_view name, std::string_view value) {
  constexpr std::size_t few_digits = 3;
  const auto kind = secrets::kind_of_name(name);
  if (kind == secrets::NameKind::harmless || secrets::is_placeholder(value) || secrets::is_hidden(value)) return false;
  if (kind == secrets::NameKind::weak) return !secrets::is_harmless_under_weak_name(value);
  return !secrets::is_short_number(value, few_digits);
}

std::size_t hide_secrets(std::span<char> text) {
  const std::string_view shown{text.data(), text.size()};
  return overwrite(secrets::TextScan{shown, secrets::Guesses::no}.find(), text);
}

std::optional<std::string> without_secrets(std::string_view text) {
  const auto ranges = secrets::TextScan{text, secrets::Guesses::no}.find();
  if (ranges.empty()) return std::nullopt;
  std::string result{text};
  overwrite(ranges, result);
  return result;
}

std::vector<std::string> scrub(const std::vector<std::string>& command) {
  const std::vector<std::string_view> words{command.begin(), command.end()};
  const auto secret = secrets::secret_words(words, secrets::Guesses::yes);
  std::vector<std::string> result;
  result.reserve(command.size());
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto found = std::ranges::find(secret, i, &secrets::HiddenWord::word);
    const bool hide = found != secret.end() && !secrets::is_hidden(words[i].substr(found->from));
    result.push_back(hide ? command[i].substr(0, found->from).append(hidden_word) : scrub_word(command[i]));
  }
  return result;
}

}  // namespace rankscope
