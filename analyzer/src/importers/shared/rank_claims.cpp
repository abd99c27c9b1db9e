#include "importers/shared/rank_claims.h"

#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::size_t>;

constexpr std::size_t most_names = 32;

/// The path by which files are compared; as it is where the current folder is gone.
std::string plain(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return (failed ? path : whole).lexically_normal().string();
}

/// The inputs by what a map can call them. Large jobs have thousands, so each is looked at once.
class InputIndex {
 public:
  explicit InputIndex(std::span<const RankInput> inputs) : inputs_(inputs) {
    for (std::size_t row = 0; row < inputs.size(); ++row) {
      paths_.push_back(plain(inputs[row].path));
      by_path_[paths_.back()].push_back(row);
      by_name_[inputs[row].path.filename().string()].push_back(row);
    }
    for (const auto& [name, rows] : by_name_)
      if (std::ranges::any_of(rows, [&](std::size_t row) { return paths_[row] != paths_[rows.front()]; }))
        shared_names_.insert(name);
  }

  [[nodiscard]] std::span<const RankInput> inputs() const { return inputs_; }

  /// How a map can name an input: the bare name if no other file has it.
  [[nodiscard]] std::string name_of(std::size_t row) const {
    const RankInput& input = inputs_[row];
    const std::string bare = input.path.filename().string();
    const std::string file = shared_names_.contains(bare) ? input.path.string() : bare;
    return input.processes > 1 && input.pid ? format("{}:{}", file, *input.pid) : file;
  }

  [[nodiscard]] std::string names_of(std::span<const std::size_t> rows) const {
    std::string names;
    for (std::size_t i = 0; i < std::min(rows.size(), most_names); ++i) {
      names += (i > 0 ? ", " : "") + name_of(rows[i]);
      if (!inputs_[rows[i]].program.empty()) names += format(" ({})", inputs_[rows[i]].program);
    }
    if (rows.size() > most_names) names += format(" and {} more", rows.size() - most_names);
    return names;
  }

  /// Rows of the file that a text names: by its path, else by its bare name. An empty text names nothing.
  [[nodiscard]] Rows rows_of_file(std::string_view file) const {
    if (file.empty()) return {};
    if (const auto found = by_path_.find(plain(file)); found != by_path_.end()) return found->second;
    const auto found = by_name_.find(std::string{file});
    return found == by_name_.end() ? Rows{} : found->second;
  }

 private:
  std::span<const RankInput> inputs_;
  std::vector<std::string> paths_;  // parallel to the inputs
  std::unordered_map<std::string, Rows> by_path_;
  std::unordered_map<std::string, Rows> by_name_;
  std::unordered_set<std::string> shared_names_;  // of several files
};

/// Rows of FILE:PID.
Rows rows_of_process(const InputIndex& index, std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return {};
  Rows rows = index.rows_of_file(entry.substr(0, colon));
  std::erase_if(rows, [&](std::size_t row) {
    const auto& pid = index.inputs()[row].pid;
    return !pid || std::to_string(*pid) != entry.substr(colon + 1);
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
Result<std::size_t> row_of(const InputIndex& index, const std::string& entry) {
  const std::span<const RankInput> inputs = index.inputs();
  Rows rows = index.rows_of_file(entry);
  if (rows.empty()) rows = rows_of_process(index, entry);
  if (rows.empty())
    return wrong_map(
        format("no opened file is called {}; the opened files are: {}", entry, index.names_of(all_rows(inputs))));
  if (rows.size() == 1) return rows.front();
  const bool one_file =
      std::ranges::all_of(rows, [&](std::size_t row) { return inputs[row].path == inputs[rows.front()].path; });
  if (one_file)
    return wrong_map(format("{} contains {} processes; give the rank of each as FILE:PID=RANK: {}", entry, rows.size(),
                            index.names_of(rows)));
  return wrong_map(format("{} matches {} files; give their paths: {}", entry, rows.size(), index.names_of(rows)));
}

}  // namespace

Result<std::vector<std::optional<std::int64_t>>> ranks_from_map(std::span<const RankInput> inputs,
                                                                const std::map<std::string, std::uint32_t>& map) {
  std::vector<std::optional<std::int64_t>> ranks(inputs.size());
  if (map.empty()) return ranks;
  const InputIndex index{inputs};
  std::map<std::size_t, std::string> entries;
  std::map<std::uint32_t, std::string> owners;
  for (const auto& [entry, rank] : map) {
    RS_TRY(const std::size_t row, row_of(index, entry));
    const auto [same, is_new] = entries.try_emplace(row, entry);
    if (!is_new) return wrong_map(format("{} and {} are the same file; give it once", same->second, entry));
    const auto [owner, is_free] = owners.try_emplace(rank, entry);
    if (!is_free) return wrong_map(format("{} and {} both have rank {}", owner->second, entry, rank));
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
      return wrong_map(format("{} is given rank {}, but the job has {} (0 to {})", InputIndex{inputs}.name_of(row),
                              *claims[row].rank, counted(world_size, "rank"), world_size - 1));
  }
  for (const auto& [rank, rows] : owners) {
    if (rows.size() < 2) continue;
    const bool by_map = std::ranges::any_of(rows, [&](std::size_t row) { return claims[row].by_map; });
    if (by_map)
      return wrong_map(format(
          "rank {} is given to one input, but other inputs claim the same rank; give the ranks of all of them: {}",
          rank, InputIndex{inputs}.names_of(rows)));
    return fail(ErrorKind::unreadable, format("{} inputs claim to be rank {}: {}; open only one of them, or give their "
                                              "ranks with --rank-map FILE=RANK,...",
                                              rows.size(), rank, InputIndex{inputs}.names_of(rows)));
  }
  return {};
}

tl::unexpected<Error> no_rank_found(std::span<const RankInput> inputs, std::span<const std::size_t> rows) {
  const bool several = std::ranges::any_of(rows, [&](std::size_t row) { return inputs[row].processes > 1; });
  return fail(ErrorKind::unreadable,
              format("the ranks of these files are unknown: {}; give the ranks with --rank-map {}=RANK,...",
                     InputIndex{inputs}.names_of(rows), several ? "FILE:PID" : "FILE"));
}

std::optional<std::int64_t> rank_in_name(std::string_view file_name) {
  const std::string name = lower(file_name);
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      const bool inside_a_word = at > 0 && name[at - 1] >= 'a' && name[at - 1] <= 'z';
      if (inside_a_word) continue;
      std::string_view rest = std::string_view{name}.substr(at + word.size());
      if (word == "rank" && (rest.starts_with('-') || rest.starts_with('_'))) rest.remove_prefix(1);
      const auto rank = leading_number<std::int64_t>(rest, {.least = 0, .most = most_ranks - 1});
      if (rank && !rest.starts_with('-')) return rank;  // not "rank--0"
    }
  }
  return std::nullopt;
}

}  // namespace rankscope::analyzer
