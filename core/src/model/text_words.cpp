#include "text_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

namespace rankscope::text {
namespace {

using Json = nlohmann::json;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Reads a bare run of characters or a JSON string at `at`; moves `at` behind it.
Result<std::string> read_value(std::string_view line, std::size_t& at, bool stop_at_equals, bool& quoted) {
  quoted = at < line.size() && line[at] == '"';
  const std::size_t begin = at;
  if (!quoted) {
    while (at < line.size() && !is_blank(line[at]) && !(stop_at_equals && line[at] == '=')) ++at;
    return std::string{line.substr(begin, at - begin)};
  }
  for (++at; at < line.size() && line[at] != '"'; ++at)
    if (line[at] == '\\') ++at;
  if (at >= line.size()) return fail(ErrorKind::unreadable, "a quoted string is not closed");
  ++at;
  const Json parsed = Json::parse(line.substr(begin, at - begin), nullptr, false);
  if (!parsed.is_string()) return fail(ErrorKind::unreadable, "a quoted string is not valid JSON");
  return parsed.get<std::string>();
}

}  // namespace

bool is_own_key(SpanKind kind, std::string_view key) {
  constexpr std::array<std::string_view, 3> of_spans{"lane", "cut", "state"};
  constexpr std::array<std::string_view, 9> of_collectives{"group", "members", "seq",      "op", "bytes",
                                                           "dtype", "peer",    "enqueued", "on"};
  if (std::ranges::find(of_spans, key) != of_spans.end()) return true;
  return kind == SpanKind::comm && std::ranges::find(of_collectives, key) != of_collectives.end();
}

Result<std::vector<Word>> split_line(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (true) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at >= line.size()) return words;
    Word word;
    RS_TRY(word.value, read_value(line, at, true, word.quoted));
    if (at < line.size() && line[at] == '=') {
      ++at;
      word.key = std::move(word.value);
      word.key_quoted = word.quoted;
      word.json = line.substr(at).starts_with("@\"");
      at += word.json ? 1 : 0;
      RS_TRY(word.value, read_value(line, at, false, word.quoted));
    }
    words.push_back(std::move(word));
  }
}

std::optional<double> sample_value(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string quote(std::string_view text) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != '\\' &&
           static_cast<unsigned char>(c) < 0x7F;
  };
  if (!text.empty() && text != "-" && text.front() != '#' && std::ranges::all_of(text, plain)) return std::string{text};
  return quote_always(text);
}

std::string quote_always(std::string_view text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace rankscope::text
