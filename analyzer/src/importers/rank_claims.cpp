#include "importers/rank_claims.h"

#include <algorithm>
#include <charconv>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::size_t>;

constexpr std::size_t most_names = 32;

fs::path plain(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// How a map can name an input: the bare name if no other file has it.
std::string name_of(std::span<const RankInput> inputs, std::size_t row) {
  const RankInput& input = inputs[row];
  const bool shared_name = std::ranges::any_of(inputs, [&](const RankInput& other) {
    return other.path != input.path && other.path.filename() == input.path.filename();
  });
  const std::string file = shared_name ? input.path.string() : input.path.filename().string();
  return input.processes > 1 && input.pid ? format("{}:{}", file, *input.pid) : file;
}

std::string names_of(std::span<const RankInput> inputs, std::span<const std::size_t> rows) {
  std::string names;
  for (std::size_t i = 0; i < std::min(rows.size(), most_names); ++i) {
    names += (i > 0 ? ", " : "") + name_of(inputs, rows[i]);
    if (!inputs[rows[i]].program.empty()) names += format(" ({})", inputs[rows[i]].program);
  }
  if (rows.size() > most_names) names += format(" and {} more", rows.size() - most_names);
  return names;
}

/// Rows of the file that a text names: by its path, else by its bare name.
Rows rows_of_file(std::span<const RankInput> inputs, std::string_view file) {
  Rows by_path;
  Rows by_name;
  for (std::size_t row = 0; row < inputs.size(); ++row) {
    if (plain(inputs[row].path) == plain(file)) by_path.push_back(row);
    if (inputs[row].path.filename().string() == file) by_name.push_back(row);
  }
  return by_path.empty() ? by_name : by_path;
}

/// Rows of FILE:PID.
Rows rows_of_process(std::span<const RankInput> inputs, std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return {};
  Rows rows = rows_of_file(inputs, entry.substr(0, colon));
  std::erase_if(rows, [&](std::size_t row) {
    return !inputs[row].pid || std::to_string(*inputs[row].pid) != entry.substr(colon + 1);
  });
  return rows;
}

tl::unexpected<Error> wrong_map(const std::string& why) { return fail(ErrorKind::usage, "--rank-map: " + why); }

Rows all_rows(std::span<const RankInput> inputs) {
  Rows rows(inputs.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = row;
  return rows;
}

/// The one row that an entry of the map names.
Result<std::size_t> row_of(std::span<const RankInput> inputs, const std::string& entry) {
  Rows rows = rows_of_file(inputs, entry);
  if (rows.empty()) rows = rows_of_process(inputs, entry);
  if (rows.empty())
    return wrong_map(
        format("nothing that is opened is named {}; there is {}", entry, names_of(inputs, all_rows(inputs))));
  if (rows.size() == 1) return rows.front();
  const bool one_file =
      std::ranges::all_of(rows, [&](std::size_t row) { return inputs[row].path == inputs[rows.front()].path; });
  if (one_file)
    return wrong_map(
        format("{} holds {} processes; name each as FILE:PID=RANK: {}", entry, rows.size(), names_of(inputs, rows)));
  return wrong_map(format("{} names {} files; write their paths: {}", entry, rows.size(), names_of(inputs, rows)));
}

}  // namespace

Result<std::vector<std::optional<std::int64_t>>> ranks_from_map(std::span<const RankInput> inputs,
                                                                const std::map<std::string, std::uint32_t>& map) {
  std::vector<std::optional<std::int64_t>> ranks(inputs.size());
  std::map<std::size_t, std::string> entries;
  std::map<std::uint32_t, std::string> owners;
  for (const auto& [entry, rank] : map) {
    RS_TRY(const std::size_t row, row_of(inputs, entry));
    const auto [same, is_new] = entries.try_emplace(row, entry);
    if (!is_new) return wrong_map(format("{} and {} are one file; name it once", same->second, entry));
    const auto [owner, is_free] = owners.try_emplace(rank, entry);
    if (!is_free) return wrong_map(format("{} and {} are both given rank {}", owner->second, entry, rank));
    ranks[row] = rank;
  }
  return ranks;
}

Result<void> check_claims(std::span<const RankInput> inputs, std::span<const RankClaim> claims,
                          std::int64_t world_size) {
  std::map<std::int64_t, Rows> owners;
  for (std::size_t row = 0; row < claims.size(); ++row) {
    if (!claims[row].rank) continue;
    owners[*claims[row].rank].push_back(row);
    if (claims[row].by_map && world_size > 0 && *claims[row].rank >= world_size)
      return wrong_map(format("{} is given rank {}, but the job has {} ranks (0 to {})", name_of(inputs, row),
                              *claims[row].rank, world_size, world_size - 1));
  }
  for (const auto& [rank, rows] : owners) {
    if (rows.size() < 2) continue;
    const bool by_map = std::ranges::any_of(rows, [&](std::size_t row) { return claims[row].by_map; });
    if (by_map)
      return wrong_map(format("rank {} is given to one of {}, and the others say that they are it; name them all", rank,
                              names_of(inputs, rows)));
    return fail(ErrorKind::unreadable,
                format("{} inputs claim to be rank {}: {}; open one of them, or name their ranks with --rank-map "
                       "FILE=RANK,...",
                       rows.size(), rank, names_of(inputs, rows)));
  }
  return {};
}

tl::unexpected<Error> nothing_tells(std::span<const RankInput> inputs, std::span<const std::size_t> rows) {
  const bool several = std::ranges::any_of(rows, [&](std::size_t row) { return inputs[row].processes > 1; });
  return fail(ErrorKind::unreadable,
              format("nothing tells which ranks these are: {}; name them with --rank-map {}=RANK,...",
                     names_of(inputs, rows), several ? "FILE:PID" : "FILE"));
}

std::optional<std::int64_t> rank_in_name(std::string_view file_name) {
  std::string lower{file_name};
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      const bool inside_a_word = at > 0 && lower[at - 1] >= 'a' && lower[at - 1] <= 'z';
      if (inside_a_word) continue;
      std::string_view rest = std::string_view{lower}.substr(at + word.size());
      if (word == "rank" && (rest.starts_with('-') || rest.starts_with('_'))) rest.remove_prefix(1);
      std::int64_t rank = -1;  // "rank--3" is none
      const auto error = std::from_chars(rest.data(), rest.data() + rest.size(), rank).ec;
      if (error == std::errc{} && rank >= 0 && rank < most_ranks && !rest.starts_with('-')) return rank;
    }
  }
  return std::nullopt;
}

}  // namespace rankscope::analyzer
