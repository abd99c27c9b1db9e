// The ranks of one job, collected from the files that their digests are in.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/rank_digest.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer {

/// Files may come in any order; the set is the same.
class DigestSet {
 public:
  /// `unreadable`, with the names, if the file is no digest, is damaged, is of another job than those before, or has a
  /// rank that is here already. Nothing is added then.
  Result<void> add(const std::string& file_name, std::string_view bytes);

  /// Ascending.
  [[nodiscard]] std::span<const RankDigest> ranks() const { return ranks_; }
  /// Files whose end is missing: ranks or later parts of the job may be in it.
  [[nodiscard]] std::span<const QualityPlace> losses() const { return losses_; }

 private:
  struct Origin {
    std::string file;
    digest::Job job;
  };
  [[nodiscard]] Result<void> check(const std::string& file_name, const digest::Job& job,
                                   std::span<const RankDigest> ranks) const;

  std::optional<Origin> first_;
  std::vector<RankDigest> ranks_;
  std::map<RankId, std::string> files_;  // where each rank is from
  std::vector<QualityPlace> losses_;     // by file name
};

}  // namespace rankscope::analyzer
