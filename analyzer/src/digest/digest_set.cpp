#include "digest/digest_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// "4 ranks", or that it is not known how many.
std::string size_of_job(const digest::Job& job) {
  return job.world_size > 0 ? counted(job.world_size, "rank") : std::string{"an unknown number of ranks"};
}

/// Why both cannot be of one job, as a sentence without its full stop; empty if they can. Other evidence, such as times
/// that lie far apart, is for those who compare the ranks.
std::string why_other_job(const digest::Job& first, const digest::Job& other) {
  if (first.source != other.source) return format("one comes from {}, the other from {}", first.source, other.source);
  if (first.world_size != other.world_size)
    return format("one job has {}, the other {}", size_of_job(first), size_of_job(other));
  if (first.name != other.name) return format("their jobs have the names \"{}\" and \"{}\"", first.name, other.name);
  if (first.recording != other.recording) return "they come from different recordings";
  return {};
}

}  // namespace

Result<void> DigestSet::check(const std::string& file_name, const digest::Job& job,
                              std::span<const RankDigest> ranks) const {
  if (first_)
    if (const std::string why = why_other_job(first_->job, job); !why.empty())
      return fail(ErrorKind::unreadable, format("{} and {} are from different jobs: {}; open the digests of one job",
                                                first_->file, file_name, why));
  for (const RankDigest& rank : ranks)
    if (const auto known = files_.find(rank.rank); known != files_.end())
      return fail(ErrorKind::unreadable, format("{} and {} both contain rank {}; open only one of them", known->second,
                                                file_name, rank.rank.value));
  return {};
}

Result<void> DigestSet::add(const std::string& file_name, std::string_view bytes) {
  RS_TRY(const digest::DigestFile file, digest::read_digest(bytes).map_error(while_doing(file_name)));
  RS_TRY(std::vector<RankDigest> ranks, read_digests(file).map_error(while_doing(file_name)));
  RS_TRY_VOID(check(file_name, file.job, ranks));
  if (!first_) first_ = Origin{file_name, file.job};
  for (const RankDigest& rank : ranks) files_.emplace(rank.rank, file_name);
  std::ranges::move(ranks, std::back_inserter(ranks_));
  std::ranges::sort(ranks_, {}, &RankDigest::rank);
  if (file.cut_bytes > 0) losses_.push_back({Counter::truncated_input, 1, file_name});
  std::ranges::sort(losses_, {}, &QualityPlace::where);
  return {};
}

}  // namespace rankscope::analyzer
