#include <array>
#include <utility>

#include "rankscope/collectors/keep.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t longest_kept_s = std::int64_t{366} * 24 * 3600;
constexpr std::uint64_t smallest_bytes = std::uint64_t{16} << 20;  // with less, hardly a step is kept

constexpr std::array periods{
    std::pair{std::string_view{"s"}, std::int64_t{1}}, std::pair{std::string_view{"m"}, std::int64_t{60}},
    std::pair{std::string_view{"h"}, std::int64_t{3600}}, std::pair{std::string_view{"d"}, std::int64_t{86400}}};
constexpr std::array sizes{std::pair{std::string_view{"MiB"}, std::uint64_t{1} << 20},
                           std::pair{std::string_view{"GiB"}, std::uint64_t{1} << 30},
                           std::pair{std::string_view{"TiB"}, std::uint64_t{1} << 40}};

/// False if the word is neither a period nor a size, or is out of bounds.
bool take_word(std::string_view word, KeepLimit& limit) {
  std::string_view unit = word;
  const auto number = take_number<std::int64_t>(unit, {.least = 1, .most = std::int64_t{1} << 40});
  if (!number) return false;
  for (const auto& [name, seconds] : periods) {
    if (unit != name || limit.period || *number > longest_kept_s / seconds) continue;
    limit.period = nanoseconds{*number * seconds * ns_per_s};
    return true;
  }
  for (const auto& [name, bytes] : sizes) {
    const auto amount = static_cast<std::uint64_t>(*number);
    if (unit != name || limit.bytes || amount > (std::uint64_t{1} << 50) / bytes) continue;
    limit.bytes = amount * bytes;
    return *limit.bytes >= smallest_bytes;
  }
  return false;
}

}  // namespace

Result<KeepLimit> keep_limit_from(std::string_view text) {
  KeepLimit limit;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (!take_word(rest.substr(0, comma), limit))
      return fail(ErrorKind::usage,
                  format("--keep must be a period of at most a year, as in 90s, 10m, 2h or 1d, or a size of at least "
                         "16MiB, as in 500MiB or 4GiB, or both, separated by a comma (is \"{}\")",
                         text));
    if (comma == std::string_view::npos) return limit;
    rest.remove_prefix(comma + 1);
  }
}

std::string gib_text(std::uint64_t bytes) {
  if (bytes < std::uint64_t{1} << 30) return format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
  return format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace rankscope::collectors
