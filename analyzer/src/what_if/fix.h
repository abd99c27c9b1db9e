// Changes to ask for: what if this rank were as fast as the others, that operation twice as fast (metrics.md 12.10)?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"
#include "replay/peers.h"
#include "replay/simulate.h"

namespace rankscope::analyzer::replay {

enum class FixKind : std::uint8_t {
  rank,      ///< as its peers
  host,      ///< all ranks of a host as their peers elsewhere
  op,        ///< operations by name: times a factor, else as ideal
  group,     ///< transfers of a group
  link,      ///< transfers in which two ranks take part
  network,   ///< no transfer takes time
  launch,    ///< no delays
  hostcode,  ///< host time times a factor
  data,      ///< nobody waits for the loader
  gc,        ///< no garbage collection
  stage,     ///< the last stage computes as much as the mean of all
  balance,   ///< compute is the mean of the peers
  remove,    ///< operations by name take no time
  overlap,   ///< communication beside everything else
};

struct Fix {
  FixKind kind = FixKind::rank;
  std::string text;     ///< as the user wrote it
  std::string subject;  ///< name or pattern; empty where the kind has none
  std::optional<double> factor;
  std::uint32_t first = 0;  ///< rank, or first rank of a link
  std::uint32_t second = 0;
};

/// "rank:2", "op:aten::mm*0.5", "network", ...; `usage` names what is wrong and what there is.
[[nodiscard]] Result<Fix> parse_fix(std::string_view text);

/// What one fix changed.
struct FixEffect {
  std::string text;
  std::int64_t items = 0;     ///< how many lengths it changed
  std::int64_t saved_ns = 0;  ///< by how much they are shorter, all together; negative: longer
};

/// Where less of what a rank did has peers, nothing tells what is usual for it.
inline constexpr double enough_compared = 0.5;

struct FixedScenario {
  Scenario scenario;
  std::vector<FixEffect> effects;  ///< one per fix
};

/// Applies them one behind the other. `usage` where a fix means nothing that is in the recording.
[[nodiscard]] Result<FixedScenario> apply_fixes(const Graph& graph, const ItemPeers& peers, std::span<const Fix> fixes);

/// What set_as_others could compare; times are in ns and of all steps together.
struct AsOthers {
  double compared = 0;         ///< share of their own work (by time) that has peers
  std::int64_t excess_ns = 0;  ///< by how much their work and delays that have peers take longer than there
  std::int64_t alone_ns = 0;   ///< own work that no peer has, beyond what peers have and they lack
  std::int64_t kept_ns = 0;    ///< of it: with one peer only, which keeps its length
  std::int64_t lacked_ns = 0;  ///< work of their only peer that they lack, beyond what only they have
};

/// Everything of the ranks marked takes the median of its peers on the others in the same step, else in all steps. Work
/// that no peer has takes together, in each step, as long as what the peers (two at least) have and the rank lacks; it
/// never becomes longer (metrics.md 12.7).
AsOthers set_as_others(const Graph& graph, const ItemPeers& peers, const std::vector<bool>& ranks, Scenario& scenario);

/// Why a replay with these ranks as their peers does not show what that saves; empty if it does. Reports and
/// `rankscope whatif` refuse for the same reasons, in the same words.
[[nodiscard]] std::string why_not_as_others(const Graph& graph, const AsOthers& found, const std::vector<bool>& ranks);

}  // namespace rankscope::analyzer::replay
