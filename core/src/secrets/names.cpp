#include "secrets/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <vector>

#include "secrets/shapes.h"

namespace rankscope::secrets {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::size_t longest_name = 96;  // what is longer is code or a sentence

// No name of a secret lacks all of these: most names are left here.
constexpr auto roots =
    std::to_array<std::string_view>({"pass", "pw", "secret", "key", "token", "auth", "cred", "pat", "cookie"});

// Anywhere in the name without its separators: PGPASSWORD, pgPassword and pg-password are one.
constexpr auto strong_anywhere = std::to_array<std::string_view>(
    {"password", "passwd", "passphrase", "secret", "apikey", "credential", "privatekey", "passcode"});
constexpr auto strong_at_end = std::to_array<std::string_view>(
    {"authtoken", "accesstoken", "apitoken", "refreshtoken", "sessiontoken", "securitytoken", "accesskey", "accountkey",
     "authkey", "sharedkey", "dbpass", "sshpass"});
constexpr auto strong_words = std::to_array<std::string_view>({"authorization", "cookie", "creds", "cred"});
constexpr auto weak_last_words = std::to_array<std::string_view>({"token", "pat", "pw"});

/// Before "pass": other passes are those of a network or a compiler.
constexpr auto owners_of_passes = std::to_array<std::string_view>(
    {"user", "mysql", "smtp", "admin", "root", "login", "ftp", "redis", "pg", "http", "proxy", "mail", "keystore"});
/// Before "token" and "key": words of language models, of containers and of caches.
constexpr auto harmless_owners = std::to_array<std::string_view>(
    {"eos",       "bos",     "pad",       "unk",   "sep",       "cls",    "mask",    "per",    "max",
     "min",       "new",     "num",       "n",     "next",      "prev",   "last",    "first",  "special",
     "image",     "audio",   "video",     "stop",  "end",       "start",  "begin",   "input",  "output",
     "prompt",    "total",   "each",      "every", "current",   "decode", "prefill", "draft",  "target",
     "sample",    "sampled", "generated", "cache", "sort",      "group",  "primary", "public", "foreign",
     "state",     "dict",    "query",     "attn",  "attention", "self",   "lookup",  "hash",   "dispatch",
     "partition", "block",   "column",    "index", "store",     "graph",  "kernel",  "metric"});
/// After the word for a secret: where it is, or what it must look like, is no secret.
constexpr auto harmless_last =
    std::to_array<std::string_view>({"file", "path", "dir", "folder", "length", "len", "type", "policy", "size",
                                     "count", "manager", "stdin", "required", "prompt", "env", "id", "name"});

bool is_in(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

bool ends_in(Names names, std::string_view name) {
  return std::ranges::any_of(names, [name](std::string_view end) { return name.ends_with(end); });
}

bool holds_any(Names names, std::string_view name) {
  return std::ranges::any_of(names,
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

/// A name in lower case without separators, and the words that it is made of.
struct Split {
  std::string joined;
  std::vector<std::string> words;
};

Split split(std::string_view name) {
  Split result;
  bool open = false;
  bool upper_before = true;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = std::isupper(byte) != 0;
    if (std::isalnum(byte) == 0 || (upper && !upper_before)) open = false;
    upper_before = upper;
    if (std::isalnum(byte) == 0) continue;
    if (!open) result.words.emplace_back();
    open = true;
    result.words.back() += static_cast<char>(std::tolower(byte));
    result.joined += result.words.back().back();
  }
  return result;
}

bool may_name_secret(std::string_view name) {
  std::array<char, longest_name> lower{};
  std::size_t length = 0;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      lower[length++] = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return holds_any(roots, {lower.data(), length});
}

std::string_view owner_in(const Split& name) {
  return name.words.size() < 2 ? std::string_view{} : std::string_view{name.words[name.words.size() - 2]};
}

bool is_strong(const Split& name) {
  const std::string& last = name.words.back();
  if (holds_any(strong_anywhere, name.joined) || ends_in(strong_at_end, name.joined)) return true;
  if (std::ranges::any_of(name.words, [](const std::string& word) { return is_in(strong_words, word); })) return true;
  if (last == "pass") return is_in(owners_of_passes, owner_in(name));
  return last == "pwd" && name.words.size() > 1;  // PWD is a folder
}

bool is_weak(const Split& name) {
  const std::string& last = name.words.back();
  if (std::ranges::find(name.words, "auth") != name.words.end()) return true;
  if (is_in(harmless_owners, owner_in(name))) return false;
  if (last == "key") return name.words.size() > 1;  // "key" alone means little
  return is_in(weak_last_words, last) || name.joined.ends_with("token");
}

NameKind kind_of(const Split& name) {
  if (name.words.empty() || is_in(harmless_last, name.words.back())) return NameKind::harmless;
  if (is_strong(name)) return NameKind::strong;
  return is_weak(name) ? NameKind::weak : NameKind::harmless;
}

}  // namespace

NameKind kind_of_name(std::string_view name) {
  if (name.size() > longest_name || !may_name_secret(name)) return NameKind::harmless;
  return kind_of(split(name));
}

NameKind kind_of_option(std::string_view option) {
  constexpr auto short_names = std::to_array<std::string_view>({"pass", "pwd", "pw", "key"});
  const std::size_t first = option.find_first_not_of('-');
  const std::string_view name = first == std::string_view::npos ? std::string_view{} : option.substr(first);
  return is_in(short_names, name) ? NameKind::strong : kind_of_name(name);
}

bool is_secret_of_option(std::string_view option, std::string_view value) {
  constexpr std::size_t few_digits = 3;
  const NameKind kind = kind_of_option(option);
  if (kind == NameKind::harmless || is_placeholder(value) || is_hidden(value)) return false;
  const bool is_clear = kind == NameKind::strong && !option.ends_with("-pass") && !option.ends_with("-key");
  return is_clear || !(is_short_number(value, few_digits) || value.starts_with('/') || value.starts_with("./"));
}

NameKind kind_of_parameter(std::string_view name) {
  constexpr auto short_names =
      std::to_array<std::string_view>({"sig", "signature", "key", "code", "pass", "pwd", "hmac"});
  if (is_in(short_names, name) || name == "X-Amz-Signature" || name == "X-Goog-Signature") return NameKind::strong;
  return kind_of_name(name);
}

}  // namespace rankscope::secrets
