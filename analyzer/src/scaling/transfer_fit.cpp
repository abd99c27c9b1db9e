#include "scaling/transfer_fit.h"

#include <algorithm>
#include <map>

#include "collectives/comm_ops.h"
#include "math/statistics.h"

namespace rankscope::analyzer::scaling {
std::optional<Ring> ring_of(std::string_view op, std::int64_t ranks) {
  const std::string_view name = comm_op(op).name;
  const auto n = static_cast<double>(ranks);
  if (ranks < 2) return std::nullopt;
  if (name == "allreduce") return Ring{2 * (n - 1), 2 * (n - 1) / n};
  if (name == "reducescatter" || name == "allgather" || name == "alltoall") return Ring{n - 1, (n - 1) / n};
  if (name == "broadcast" || name == "reduce") return Ring{n - 1, 1};
  if (name == "barrier") return Ring{2 * (n - 1), 0};
  return std::nullopt;
}

LinkModel fit_link(std::span<const Transfer> transfers, const Ring& ring) {
  std::map<std::int64_t, std::vector<double>> by_size;
  for (const Transfer& transfer : transfers) by_size[transfer.bytes].push_back(transfer.ns);
  std::vector<Transfer> sizes;
  for (auto& [bytes, lengths] : by_size) sizes.push_back({bytes, median(std::move(lengths))});
  LinkModel model;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t j = i + 1; j < sizes.size(); ++j)
      slopes.push_back((sizes[j].ns - sizes[i].ns) / static_cast<double>(sizes[j].bytes - sizes[i].bytes));
  model.latency_known = !slopes.empty();
  const double slope = std::max(0.0, median(slopes));
  std::vector<double> rests;
  for (const Transfer& size : sizes) rests.push_back(size.ns - slope * static_cast<double>(size.bytes));
  const double fixed = std::max(0.0, median(rests));
  if (model.latency_known) {
    model.alpha_ns = ring.rounds > 0 ? fixed / ring.rounds : 0;
    model.ns_per_byte = ring.share > 0 ? slope / ring.share : 0;
  } else if (!sizes.empty()) {
    const bool has_volume = ring.share > 0 && sizes.front().bytes > 0;
    model.alpha_ns = has_volume || ring.rounds <= 0 ? 0 : sizes.front().ns / ring.rounds;
    model.ns_per_byte = has_volume ? sizes.front().ns / (ring.share * static_cast<double>(sizes.front().bytes)) : 0;
  }
  return model;
}

}  // namespace rankscope::analyzer::scaling
