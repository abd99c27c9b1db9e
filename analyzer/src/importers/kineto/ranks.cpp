#include "importers/kineto/ranks.h"

#include <algorithm>
#include <map>

#include "importers/kineto/decimal.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t most_ranks = 1 << 24;

constexpr std::string_view digits = "0123456789";
constexpr std::size_t most_names = 8;

std::optional<std::int64_t> number_behind(std::string_view name, std::string_view word, std::string_view signs) {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    std::string_view rest = name.substr(at + word.size());
    if (!rest.empty() && signs.find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
    const std::string_view number = rest.substr(0, std::min(rest.find_first_not_of(digits), rest.size()));
    if (const auto rank = kineto::integer_of(number); rank && *rank < (1 << 24)) return rank;
  }
  return std::nullopt;
}

std::optional<std::int64_t> mapped(const RankEvidence& file, const ImportOptions& options) {
  for (const std::string& name : {file.path.string(), file.path.filename().string()})
    if (const auto found = options.rank_map.find(name); found != options.rank_map.end()) return found->second;
  return std::nullopt;
}

std::optional<std::int64_t> told(const RankEvidence& file, const ImportOptions& options) {
  if (const auto rank = mapped(file, options)) return rank;
  if (file.metadata) return file.metadata;
  if (file.communicator && *file.communicator >= 0 && *file.communicator < most_ranks) return file.communicator;
  if (const auto rank = rank_in_name(file.path.filename().string())) return rank;
  return rank_in_name(std::filesystem::path{file.trace_name}.filename().string());
}

std::string names_of(std::span<const RankEvidence> files, const std::vector<std::size_t>& which) {
  std::string names;
  for (std::size_t i = 0; i < std::min(which.size(), most_names); ++i)
    names += (i > 0 ? ", " : "") + files[which[i]].path.string();
  if (which.size() > most_names) names += format(" and {} more", which.size() - most_names);
  return names;
}

constexpr std::string_view advice = "name their ranks with --rank-map FILE=RANK,...";

Result<void> check_map(std::span<const RankEvidence> files, const ImportOptions& options) {
  for (const auto& [name, rank] : options.rank_map) {
    const bool known = std::ranges::any_of(files, [&name = name](const RankEvidence& file) {
      return file.path.string() == name || file.path.filename().string() == name;
    });
    if (!known) return fail(ErrorKind::usage, format("--rank-map: there is no file {} among those to open", name));
  }
  return {};
}

/// Files that do not tell: alone rank 0; else one process per device of one host, if that is what they are.
Result<void> guess(std::span<const RankEvidence> files, const std::vector<std::size_t>& unknown,
                   std::vector<std::optional<std::int64_t>>& ranks, Quality& quality) {
  quality.add(Counter::rank_unknown, unknown.size());
  if (files.size() == 1) {
    ranks.front() = 0;
    return {};
  }
  std::set<std::int32_t> used;
  std::set<std::string> hosts;
  for (const std::size_t i : unknown) {
    if (files[i].devices.size() == 1 && *files[i].devices.begin() >= 0) used.insert(*files[i].devices.begin());
    hosts.insert(files[i].host);
  }
  if (unknown.size() != files.size() || used.size() != unknown.size() || hosts.size() > 1)
    return fail(ErrorKind::unreadable, format("nothing in these files or their names tells which rank they are: {}; {}",
                                              names_of(files, unknown), advice));
  for (const std::size_t i : unknown) ranks[i] = *files[i].devices.begin();
  return {};
}

}  // namespace

std::optional<std::int64_t> rank_in_name(std::string_view file_name) {
  if (const auto rank = number_behind(file_name, "rank", "-_")) return rank;
  return number_behind(file_name, "worker", "");
}

Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files, const ImportOptions& options,
                                         Quality& quality) {
  RS_TRY_VOID(check_map(files, options));
  std::vector<std::optional<std::int64_t>> ranks;
  std::vector<std::size_t> unknown;
  for (const RankEvidence& file : files) {
    ranks.push_back(told(file, options));
    if (!ranks.back()) unknown.push_back(ranks.size() - 1);
  }
  if (!unknown.empty()) RS_TRY_VOID(guess(files, unknown, ranks, quality));
  std::map<std::int64_t, std::vector<std::size_t>> owners;
  for (std::size_t i = 0; i < ranks.size(); ++i) owners[*ranks[i]].push_back(i);
  for (const auto& [rank, claimants] : owners)
    if (claimants.size() > 1)
      return fail(ErrorKind::unreadable, format("{} files claim to be rank {}: {}; open one of them, or {}",
                                                claimants.size(), rank, names_of(files, claimants), advice));
  std::vector<RankId> assigned;
  for (const auto& rank : ranks) assigned.push_back(RankId{static_cast<std::uint32_t>(*rank)});
  return assigned;
}

}  // namespace rankscope::analyzer
