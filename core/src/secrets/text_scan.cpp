#include "secrets/text_scan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "secrets/shapes.h"
#include "secrets/tokens.h"

namespace rankscope::secrets {
namespace {

constexpr std::size_t shortest_bearer = 12;     // "Basic training" is not a header
constexpr std::size_t longest_plain_word = 19;  // what is longer is no English word

/// What may follow the last character of a value that is not quoted.
bool ends_value(char c) { return std::strchr(" \n\t\r\"';&,", c) != nullptr; }  // also the end of the text, '\0'

bool is_header_of_a_scheme(std::string_view name) {
  constexpr std::string_view wanted = "authorization";
  if (name.size() < wanted.size()) return false;
  return std::ranges::equal(name.substr(name.size() - wanted.size()), wanted, {},
                            [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

/// "Token sampling: greedy" and "token: forward" are sentences.
bool looks_chosen(std::string_view value) {
  return value.size() > longest_plain_word || mixes_letters_and_digits(value);
}

/// The words of a text that may be a command; quotes around a word are left out.
std::vector<Range> words_of(std::string_view text) {
  std::vector<Range> words;
  for (std::size_t at = 0; at < text.size();) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (at == text.size()) break;
    const bool quoted = text[at] == '"' || text[at] == '\'';
    const std::size_t begin = quoted ? at + 1 : at;
    std::size_t end = quoted ? text.find(text[at], begin) : text.find_first_of(" \t\r\n", begin);
    if (end == std::string_view::npos) end = text.size();
    words.push_back({begin, end});
    at = end + (quoted ? 1 : 0);
  }
  return words;
}

}  // namespace

std::vector<Range> TextScan::find() {
  for (std::size_t begin = 0; begin < text_.size();) {
    if (!is_name_character(text_[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    word(begin, end);
    begin = end;
  }
  if (has_options_) commands();
  return std::move(found_);
}

void TextScan::hide(Range range) {
  range.end = std::min(range.end, text_.size());
  const bool known = !found_.empty() && found_.back().begin <= range.begin && range.end <= found_.back().end;
  if (!known && range.begin < range.end && !is_hidden(part(range))) found_.push_back(range);
}

void TextScan::word(std::size_t begin, std::size_t end) {
  if (text_[begin] == '-') dash(begin);
  if (begins_token(text_[begin])) token(begin);
  switch (at(end)) {
    case ':':
      address(begin, end);
      [[fallthrough]];
    case '=':
    case '"':
    case '\'':
    case '\\':
      return named_value(begin, end);
    case ' ':
      bearer(begin, end);
      return named_value(begin, end);
    default:
      return;
  }
}

/// An option, or the title of a private key; "-1" and the "-" of a range are neither.
void TextScan::dash(std::size_t begin) {
  const char next = at(begin + 1);
  if (next != '-' && std::isalpha(static_cast<unsigned char>(next)) == 0) return;
  if (begin == 0 || std::isspace(static_cast<unsigned char>(text_[begin - 1])) != 0) has_options_ = true;
  private_key(begin);
}

void TextScan::token(std::size_t begin) {
  if (!found_.empty() && begin < found_.back().end) return;  // a token of dots and slashes has many words
  if (const std::size_t length = token_length(text_.substr(begin)); length > 0) hide({begin, begin + length});
}

void TextScan::private_key(std::size_t begin) {
  const std::string_view rest = text_.substr(begin);
  constexpr std::size_t longest_title = 60;
  if (!rest.starts_with("-----BEGIN") || rest.substr(0, longest_title).find("PRIVATE KEY") == std::string_view::npos)
    return;
  hide({begin, next_end(begin, key_block_, [](std::string_view rest) { return rest.starts_with("-----END"); })});
}

// Authorization: Bearer abc
void TextScan::bearer(std::size_t begin, std::size_t end) {
  const std::string_view scheme = part({begin, end});
  if (scheme == "login") has_options_ = true;
  if (scheme != "Bearer" && scheme != "Basic") return;
  std::size_t last = end + 1;
  while (last < text_.size() && (is_name_character(text_[last]) || std::strchr(".+/=", text_[last]) != nullptr)) ++last;
  if (last - end - 1 >= shortest_bearer) hide({end + 1, last});
}

// scheme://user:password@host, https://token@host
void TextScan::address(std::size_t begin, std::size_t end) {
  if (!text_.substr(end).starts_with("://")) return;
  const std::size_t first = end + 3;
  const std::size_t stop = std::min(text_.find_first_of(" /?#\t\n\"'", first), text_.size());
  const std::size_t user = part({first, stop}).rfind('@');
  if (user == std::string_view::npos || user == 0) return;
  user_of_address(part({begin, end}), {first, first + user}, first + user);
}

void TextScan::user_of_address(std::string_view scheme, Range user, std::size_t host) {
  const std::size_t colon = user.begin + std::min(part(user).find(':'), host - user.begin);
  const bool has_password = colon < host;
  const std::string_view name = part({user.begin, std::min(colon, host)});
  if (has_password) hide({colon + 1, host});
  const std::string_view password = has_password ? part({colon + 1, host}) : std::string_view{};
  const bool token_is_user = scheme.starts_with("http") && (password.empty() || password == "x-oauth-basic");
  if (token_is_user && name != "git") hide({user.begin, user.begin + name.size()});
}

bool TextScan::in_query(std::size_t begin) const {
  return begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&');
}

std::size_t TextScan::skip_spaces(std::size_t place) const {
  while (at(place) == ' ') ++place;
  return place;
}

/// What stands between a name and its value: = or :, with quotes around the name, escaped in JSON inside of JSON.
bool TextScan::separator_after(std::size_t end, Separator& found) const {
  std::size_t place = end;
  if (at(place) == '\\') ++place;
  found.name_quoted = at(place) == '"' || at(place) == '\'';
  if (found.name_quoted) ++place;
  const std::size_t sign = skip_spaces(place);
  if (at(sign) != '=' && at(sign) != ':') return false;
  const char next = at(sign + 1);
  if (next == at(sign) || (sign > 0 && text_[sign - 1] == ':')) return false;  // a == b, a::b
  found.is_equals = at(sign) == '=';
  const std::size_t behind = sign + (next == '=' ? 2 : 1);  // a := b
  found.value = skip_spaces(behind);
  found.assigns = found.is_equals && sign == end && found.value == behind;
  return true;
}

// NAME=value, --name=value, name: value, "name": "value", {'name': 'value'}
void TextScan::named_value(std::size_t begin, std::size_t end) {
  const std::string_view name = part({begin, end});
  Separator separator;
  if (!separator_after(end, separator)) return;
  const bool parameter = separator.assigns && in_query(begin);
  const NameKind kind = parameter ? kind_of_parameter(name) : kind_of_name(name);
  if (kind != NameKind::harmless) value(kind, name, separator);
}

void TextScan::value(NameKind kind, std::string_view name, const Separator& separator) {
  if (is_header_of_a_scheme(name)) return header_value(separator.value);
  const Range range = value_at(separator.value);
  const std::string_view shown = part(range);
  if (is_placeholder(shown)) return;
  if (kind == NameKind::weak && is_harmless_under_weak_name(shown)) return;
  const bool is_prose = !separator.assigns && !separator.name_quoted;
  if (kind == NameKind::weak && is_prose && !looks_chosen(shown)) return;
  hide(range);
}

/// After the scheme if there is one: "Authorization: Token abc".
void TextScan::header_value(std::size_t begin) {
  const Range scheme = value_at(begin);
  if (at(scheme.end) != ' ' || !is_name_character(at(scheme.end + 1))) {
    if (!is_placeholder(part(scheme))) hide(scheme);
    return;
  }
  hide(value_at(scheme.end + 1));
}

/// A value in quotes ends at its quote, one in brackets at its bracket, another one at the first separator.
Range TextScan::value_at(std::size_t begin) {
  const bool escaped = at(begin) == '\\' && (at(begin + 1) == '"' || at(begin + 1) == '\'');
  if (escaped) ++begin;
  const char quote = at(begin);
  if (quote == '{' || quote == '[') return {begin, end_of_bracket(begin)};
  const bool quoted = quote == '"' || quote == '\'';
  if (quoted) ++begin;
  Range& known = !quoted ? plain_ : quote == '"' ? double_quoted_ : single_quoted_;
  std::size_t end = next_end(
      begin, known, [=](std::string_view rest) { return quoted ? rest.front() == quote : ends_value(rest.front()); });
  if (escaped && end > begin && text_[end - 1] == '\\') --end;
  return {begin, end};
}

std::size_t TextScan::end_of_bracket(std::size_t begin) {
  if (!bracket_ends_.empty()) return bracket_ends_[begin];
  bracket_ends_.assign(text_.size(), text_.size());
  std::vector<std::size_t> open;
  for (std::size_t place = 0; place < text_.size(); ++place) {
    const char c = text_[place];
    if (c == '{' || c == '[') open.push_back(place);
    if ((c != '}' && c != ']') || open.empty()) continue;
    bracket_ends_[open.back()] = place + 1;
    open.pop_back();
  }
  return bracket_ends_[begin];
}

template <class Ends>
std::size_t TextScan::next_end(std::size_t begin, Range& known, Ends ends) const {
  if (known.begin <= begin && begin <= known.end && known.end > 0) return known.end;
  std::size_t end = begin;
  while (end < text_.size() && !ends(text_.substr(end))) ++end;
  known = {begin, end};
  return end;
}

void TextScan::commands() {
  const std::vector<Range> places = words_of(text_);
  std::vector<std::string_view> words;
  words.reserve(places.size());
  for (const Range& place : places) words.push_back(part(place));
  for (const HiddenWord& hidden : secret_words(words, commands_)) {
    const Range& place = places[hidden.word];
    hide({place.begin + hidden.from, place.end});
  }
}

}  // namespace rankscope::secrets
