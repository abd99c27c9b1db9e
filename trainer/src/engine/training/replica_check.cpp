#include "engine/training/replica_check.h"

#include <algorithm>
#include <map>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t flipped_bit = 1 << 20;  // of the fraction: the value stays finite and close

at::ScalarType bits_of(const at::Tensor& tensor) { return tensor.element_size() == 8 ? at::kLong : at::kInt; }

/// Wraps around; any single flipped bit changes it.
std::int64_t checksum_of(const std::vector<at::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  std::uint64_t sum = 0;
  for (const at::Tensor& tensor : tensors) {
    const auto own = tensor.detach().contiguous().view(bits_of(tensor)).sum(at::kLong).item<std::int64_t>();
    sum = sum * 31 + static_cast<std::uint64_t>(own);
  }
  return static_cast<std::int64_t>(sum);
}

std::string listed(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += format("{}{}", i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return text;
}

}  // namespace

Result<void> check_replicas(const Replicated& own, std::int64_t done) {
  if (own.group == nullptr) return {};
  const Group& group = own.group->group();
  const at::Tensor sums = at::zeros({group.size()}, at::kLong);
  RS_TRY_VOID(own.group->allgather_flat(sums, at::full({1}, checksum_of(own.tensors), at::kLong), "checksums").wait());
  std::map<std::int64_t, std::vector<int>> ranks_of;  // by checksum
  for (int i = 0; i < group.size(); ++i)
    ranks_of[sums[i].item<std::int64_t>()].push_back(group.members[static_cast<std::size_t>(i)]);
  if (ranks_of.size() == 1) return {};
  if (group.position != 0) return fail(ErrorKind::not_computable, "");
  const auto most = std::ranges::max_element(ranks_of, {}, [](const auto& row) { return row.second.size(); });
  const bool is_majority = 2 * most->second.size() > group.members.size();
  std::vector<int> odd;
  for (const auto& row : ranks_of)
    if (!is_majority || row.first != most->first) odd.insert(odd.end(), row.second.begin(), row.second.end());
  std::ranges::sort(odd);
  const std::string which = is_majority ? format("{} differ{} from the other {}", listed(odd),
                                                 odd.size() == 1 ? "s" : "", most->second.size())
                                        : format("{} differ, and nothing shows which of them is right", listed(odd));
  return fail(ErrorKind::not_computable,
              format("after {} the copies of the model are not the same: {}; memory was damaged, or an update "
                     "differed between ranks; continue from a checkpoint with --resume",
                     counted(done, "step"), which));
}

void corrupt(const Replicated& own) {
  const torch::NoGradGuard no_grad;
  RS_CHECK(!own.tensors.empty());
  const at::Tensor& tensor = own.tensors.front();
  const at::Tensor first = tensor.detach().view(bits_of(tensor)).flatten().narrow(0, 0, 1);
  first.bitwise_xor_(flipped_bit);
}

}  // namespace rankscope::trainer
