#include "rankscope/core/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace rankscope {
namespace {

constexpr std::string_view hidden = "***";

/// How the tokens of a service begin, and how many characters follow at least.
struct TokenForm {
  std::string_view prefix;
  std::size_t rest;
};
// The prefixes are documented by the services; "eyJ" begins every JSON web token ('{"' in base64).
constexpr std::array token_forms{
    TokenForm{"ghp_", 30},  TokenForm{"gho_", 30},        TokenForm{"ghu_", 30},   TokenForm{"ghs_", 30},
    TokenForm{"ghr_", 30},  TokenForm{"github_pat_", 30}, TokenForm{"glpat-", 16}, TokenForm{"hf_", 20},
    TokenForm{"sk-", 20},   TokenForm{"xoxb-", 16},       TokenForm{"xoxp-", 16},  TokenForm{"AKIA", 16},
    TokenForm{"ASIA", 16},  TokenForm{"AIza", 30},        TokenForm{"ya29.", 20},  TokenForm{"npm_", 30},
    TokenForm{"pypi-", 30}, TokenForm{"eyJ", 40},
};

constexpr std::size_t shortest_bearer = 12;  // "Basic training" is no header

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }
bool is_token(char c) { return is_word(c) || c == '.' || c == '+' || c == '/' || c == '='; }
bool ends_value(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '"' || c == '\'' || c == ';' || c == '&' || c == ',';
}

/// Words of a name in lower case: HF_TOKEN, --hf-token and hfToken are all {hf, token}.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  bool open = false;
  bool upper_before = true;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = std::isupper(byte) != 0;
    if (std::isalnum(byte) == 0 || (upper && !upper_before)) open = false;
    upper_before = upper;
    if (std::isalnum(byte) == 0) continue;
    if (!open) parts.emplace_back();
    open = true;
    parts.back() += static_cast<char>(std::tolower(byte));
  }
  return parts;
}

class Hider {
 public:
  explicit Hider(std::span<char> text) : text_(text) {}

  std::size_t run() {
    private_keys();
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (at > 0 && is_word(text_[at - 1])) continue;
      if (token(at) || url_password(at) || bearer(at)) continue;
      named_value(at);
    }
    return found_;
  }

 private:
  [[nodiscard]] std::string_view view() const { return {text_.data(), text_.size()}; }

  void hide(std::size_t begin, std::size_t end) {
    if (begin >= end || std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                    text_.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return c == '*'; }))
      return;
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.begin() + static_cast<std::ptrdiff_t>(end),
              '*');
    ++found_;
  }

  void private_keys() {
    constexpr std::string_view begin = "-----BEGIN";
    constexpr std::string_view end = "-----END";
    for (std::size_t at = view().find(begin); at != std::string_view::npos; at = view().find(begin, at + 1)) {
      if (view().substr(at, 60).find("PRIVATE KEY") == std::string_view::npos) continue;
      hide(at, std::min(view().find(end, at), text_.size()));
    }
  }

  bool token(std::size_t at) {
    for (const TokenForm& form : token_forms) {
      if (!view().substr(at).starts_with(form.prefix)) continue;
      std::size_t end = at + form.prefix.size();
      while (end < text_.size() && is_token(text_[end])) ++end;
      if (end - at < form.prefix.size() + form.rest) continue;
      hide(at, end);
      return true;
    }
    return false;
  }

  // Authorization: Bearer abc
  bool bearer(std::size_t at) {
    for (const std::string_view scheme : {"Bearer ", "Basic "}) {
      if (!view().substr(at).starts_with(scheme)) continue;
      std::size_t end = at + scheme.size();
      while (end < text_.size() && is_token(text_[end])) ++end;
      if (end < at + scheme.size() + shortest_bearer) continue;
      hide(at + scheme.size(), end);
      return true;
    }
    return false;
  }

  // scheme://user:password@host
  bool url_password(std::size_t at) {
    std::size_t end = at;
    while (end < text_.size() && (is_word(text_[end]) || text_[end] == '+')) ++end;
    if (end == at || !view().substr(end).starts_with("://")) return false;
    const std::size_t stop = std::min(view().find_first_of(" /\t\n\"'", end + 3), text_.size());
    const std::size_t host = view().substr(0, stop).rfind('@');
    const std::size_t colon = view().find(':', end + 3);
    if (host == std::string_view::npos || host < end + 3 || colon >= host) return false;
    hide(colon + 1, host);
    return true;
  }

  // NAME=value, --name=value, "name": "value"
  void named_value(std::size_t at) {
    std::size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == at || end >= text_.size() || !names_secret(view().substr(at, end - at))) return;
    if (text_[end] == '=') return hide_value(end + 1);
    const std::size_t colon = view().find_first_not_of("\" ", end);
    if (text_[end] == '"' && colon < text_.size() && text_[colon] == ':')
      hide_value(std::min(view().find_first_not_of(' ', colon + 1), text_.size()));
  }

  /// A quoted value ends at its quote, another one at the first separator.
  void hide_value(std::size_t begin) {
    const bool quoted = begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'');
    const char quote = quoted ? text_[begin++] : '\0';
    std::size_t end = begin;
    while (end < text_.size() && (quoted ? text_[end] != quote : !ends_value(text_[end]))) ++end;
    hide(begin, end);
  }

  std::span<char> text_;
  std::size_t found_ = 0;
};

}  // namespace

bool names_secret(std::string_view name) {
  constexpr std::array<std::string_view, 3> words{"auth", "private", "authorization"};
  constexpr std::array<std::string_view, 7> anywhere{"password", "passwd",     "passphrase", "secret",
                                                     "apikey",   "credential", "privatekey"};
  constexpr std::array<std::string_view, 3> at_the_end{"token", "dbpass", "sshpass"};
  constexpr std::array<std::string_view, 3> last_word{"key", "pat", "pwd"};
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return false;
  std::string joined;  // PGPASSWORD, pgPassword and pg-password are one
  for (const std::string& part : parts) joined += part;
  const auto is_in = [](const auto& list, const auto& text) { return std::ranges::find(list, text) != list.end(); };
  if (std::ranges::any_of(parts, [&](const std::string& part) { return is_in(words, part); })) return true;
  if (std::ranges::any_of(anywhere, [&](auto word) { return joined.find(word) != std::string::npos; })) return true;
  if (std::ranges::any_of(at_the_end, [&](auto word) { return joined.ends_with(word); })) return true;
  return parts.size() > 1 && is_in(last_word, parts.back());  // "key" alone means little
}

std::size_t hide_secrets(std::span<char> text) { return Hider{text}.run(); }

std::vector<std::string> scrub(const std::vector<std::string>& command) {
  std::vector<std::string> result;
  bool hide_next = false;
  for (const std::string& word : command) {
    const std::size_t equals = word.find('=');
    const bool is_value = hide_next && !word.starts_with("--");  // "-x" may be one: rather too much is hidden
    const bool option = !is_value && word.starts_with("-");
    if (is_value) {
      result.emplace_back(hidden);
    } else if (equals != std::string::npos && names_secret(std::string_view{word}.substr(0, equals))) {
      result.push_back(word.substr(0, equals + 1).append(hidden));
    } else {
      std::string rest = word;
      hide_secrets(rest);
      result.push_back(std::move(rest));
    }
    hide_next = option && equals == std::string::npos && names_secret(word);
  }
  return result;
}

}  // namespace rankscope
