// The container of digests, NAME.rsd: blocks, each one part of the digest of one rank (core/src/digest/FORMAT.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/result.h"

namespace rankscope::digest {

inline constexpr std::uint16_t format_major = 1;
inline constexpr std::uint16_t format_minor = 0;

/// What a file says about the job that its ranks belong to.
struct Job {
  std::string source;           ///< as in RunInfo
  std::int64_t world_size = 0;  ///< 0: not recorded
  std::string name{};           ///< of the job; empty: not recorded
  std::string recording{};      ///< the same for all ranks of one recording of ours; empty: from another tool
  bool operator==(const Job&) const = default;
};

/// One part of the digest of one rank. What a part is, and what its versions mean, is for those who wrote it.
struct Block {
  std::uint16_t part = 0;
  std::uint16_t version = 0;
  RankId rank{};
  std::string_view bytes;
};

/// Makes the bytes of a file. Blocks that were added count only once they are committed, all together: a writer that
/// dies leaves what was committed before.
class DigestWriter {
 public:
  explicit DigestWriter(const Job& job);
  /// No rank has a part twice; the part must not be `commit_part`.
  void add(const Block& block);
  void commit();

  /// What was made since the last call, to be appended to the file.
  [[nodiscard]] std::string take();

 private:
  void put_block(const Block& block);

  std::string made_;
  std::uint64_t taken_bytes_ = 0;
  std::uint32_t pending_ = 0;  // blocks since the last commit
  std::uint32_t chain_ = 0;    // over the checksums of all blocks so far
};

/// The part that commits the blocks before it.
inline constexpr std::uint16_t commit_part = 0xFFFF;

/// A file that was read.
struct DigestFile {
  Job job;
  std::uint16_t minor = 0;
  std::vector<Block> blocks;  ///< committed ones, in the order of the file
  std::size_t cut_bytes = 0;  ///< behind the last commit: a writer died, or the file was cut; nothing of them is used
};

/// True if a file begins like a digest, whatever follows.
[[nodiscard]] bool looks_like_digest(std::string_view head);
/// The blocks are views of `bytes`. `unreadable` if it is no digest, of a newer major version, has no committed block,
/// holds a part of a rank twice, or anything in front of its last commit but padding was changed, left out or repeated.
[[nodiscard]] Result<DigestFile> read_digest(std::string_view bytes);

}  // namespace rankscope::digest
