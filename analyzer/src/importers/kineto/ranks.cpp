#include "importers/kineto/ranks.h"

#include <algorithm>

#include "importers/shared/rank_claims.h"

namespace rankscope::analyzer::kineto {
namespace {

std::optional<std::int64_t> told(const RankEvidence& file) {
  if (file.metadata) return file.metadata;
  if (file.communicator && *file.communicator >= 0 && *file.communicator < most_ranks) return file.communicator;
  if (const auto rank = rank_in_name(file.path.filename().string())) return rank;
  return rank_in_name(std::filesystem::path{file.trace_name}.filename().string());
}

/// Files that do not tell: alone rank 0; else one process per device of one host, if that is what they are.
Result<void> guess(std::span<const RankEvidence> files, std::span<const RankInput> inputs,
                   std::vector<RankClaim>& claims, Quality& quality) {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < claims.size(); ++i)
    if (!claims[i].rank) unknown.push_back(i);
  if (unknown.empty()) return {};
  quality.add(Counter::rank_unknown, unknown.size());
  if (files.size() == 1) {
    claims.front().rank = 0;
    return {};
  }
  std::set<std::int32_t> used;
  std::set<std::string> hosts;
  for (const std::size_t i : unknown) {
    if (files[i].devices.size() == 1 && *files[i].devices.begin() >= 0) used.insert(*files[i].devices.begin());
    hosts.insert(files[i].host);
  }
  if (unknown.size() != files.size() || used.size() != unknown.size() || hosts.size() > 1)
    return no_rank_found(inputs, unknown);
  for (const std::size_t i : unknown) claims[i].rank = *files[i].devices.begin();
  return {};
}

}  // namespace

Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files, const ImportOptions& options,
                                         Quality& quality) {
  std::vector<RankInput> inputs;
  std::int64_t world_size = 0;
  for (const RankEvidence& file : files) {
    inputs.push_back({.path = file.path, .pid = {}, .processes = 1, .program = {}});
    world_size = std::max(world_size, file.world_size);
  }
  RS_TRY(const auto mapped, ranks_from_map(inputs, options.rank_map));
  std::vector<RankClaim> claims;
  for (std::size_t i = 0; i < files.size(); ++i)
    claims.push_back({mapped[i] ? mapped[i] : told(files[i]), mapped[i].has_value()});
  RS_TRY_VOID(guess(files, inputs, claims, quality));
  RS_TRY_VOID(check_claims(inputs, claims, world_size));
  std::vector<RankId> assigned;
  for (const RankClaim& claim : claims) assigned.push_back(RankId{static_cast<std::uint32_t>(*claim.rank)});
  return assigned;
}

}  // namespace rankscope::analyzer::kineto
