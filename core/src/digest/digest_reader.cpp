#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "digest/layout.h"
#include "rankscope/core/digest/digest_file.h"
#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/format.h"
#include "rankscope/core/most_ranks.h"
#include "recording/format/crc32c.h"

namespace rankscope::digest {
namespace {

using recording::crc32c;

tl::unexpected<Error> refuse(std::string why) { return fail(ErrorKind::unreadable, std::move(why)); }

/// What stands at an offset; nothing if the file ends before.
template <class Structure>
std::optional<Structure> structure_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Structure)) return std::nullopt;
  Structure structure;
  std::memcpy(&structure, bytes.data() + offset, sizeof structure);
  return structure;
}

/// Nothing if no block begins there, or its header was changed.
std::optional<BlockHeader> block_header_at(std::string_view bytes, std::size_t offset) {
  const auto header = structure_at<BlockHeader>(bytes, offset);
  if (!header || header->magic != block_magic) return std::nullopt;
  if (header->header_crc != crc32c(&*header, offsetof(BlockHeader, header_crc))) return std::nullopt;
  return header;
}

Result<Job> read_job(std::string_view facts) {
  PartReader reader{facts};
  Job job;
  job.source = reader.text();
  job.world_size = reader.signed_number();
  job.name = reader.text();
  job.recording = reader.text();
  if (reader.failed()) return refuse("its facts about the job are damaged; write the digest again");
  return job;  // later minor versions may add facts
}

/// The job, and where the blocks begin.
Result<std::pair<DigestFile, std::size_t>> read_head(std::string_view bytes) {
  const auto header = structure_at<FileHeader>(bytes, 0);
  if (!looks_like_digest(bytes)) return refuse("it is not a digest");
  if (!header) return refuse("the file is cut off: it ends inside its header; write the digest again");
  if (header->header_crc != crc32c(&*header, offsetof(FileHeader, header_crc)))
    return refuse("its header is damaged; write the digest again");
  if (header->major > format_major)
    return refuse(
        format("it was written by a newer version of rankscope (digest format {}.{}, this one reads {}.x); "
               "update rankscope",
               header->major, header->minor, format_major));
  const std::string_view facts = bytes.substr(sizeof(FileHeader)).substr(0, header->job_bytes);
  if (facts.size() < header->job_bytes)
    return refuse("the file is cut off: it ends inside its header; write the digest again");
  if (header->job_crc != crc32c(facts.data(), facts.size()))
    return refuse("its header is damaged; write the digest again");
  DigestFile file;
  file.minor = header->minor;
  RS_TRY(file.job, read_job(facts));
  return std::pair{std::move(file), sizeof(FileHeader) + static_cast<std::size_t>(padded(header->job_bytes))};
}

/// Walks over the blocks of a file and keeps those that are committed.
class BlockWalk {
 public:
  BlockWalk(std::string_view bytes, DigestFile& file) : bytes_(bytes), file_(file) {}

  Result<void> from(std::size_t offset) {
    std::size_t committed_until = offset;
    for (std::size_t at = offset; at < bytes_.size();) {
      const auto header = block_header_at(bytes_, at);
      if (!header) {
        note_damage(at);
        at += 8;  // a commit that follows shows that this is damage, not the place where a writer stopped
        continue;
      }
      const std::string_view payload = bytes_.substr(at + sizeof(BlockHeader)).substr(0, header->bytes);
      if (payload.size() < header->bytes) break;  // cut
      const std::size_t next = at + sizeof(BlockHeader) + static_cast<std::size_t>(padded(header->bytes));
      if (header->payload_crc != crc32c(payload.data(), payload.size())) note_damage(at);
      if (header->part == commit_part) {
        RS_TRY_VOID(commit(payload, at));
        committed_until = std::min(next, bytes_.size());
      } else {
        RS_TRY_VOID(add(*header, payload, at));
      }
      chain_ = crc32c(&header->header_crc, sizeof header->header_crc, chain_);
      at = next;
    }
    file_.cut_bytes = bytes_.size() - committed_until;
    if (file_.blocks.empty()) return refuse("the file is cut off: nothing in it is complete; write the digest again");
    return {};
  }

 private:
  void note_damage(std::size_t at) {
    if (!damaged_at_) damaged_at_ = at;
  }

  Result<void> add(const BlockHeader& header, std::string_view payload, std::size_t at) {
    if (header.piece != 0)
      return refuse(
          format("at byte {}, a part is divided, which only newer versions of rankscope can read; update "
                 "rankscope",
                 at));
    if (header.rank >= most_ranks) return refuse(format("at byte {}, {} is too large to be a rank", at, header.rank));
    pending_.push_back({header.part, header.version, RankId{header.rank}, payload});
    return {};
  }

  /// Checks that all that was written before is there, once and unchanged.
  Result<void> commit(std::string_view payload, std::size_t at) {
    const auto commit = structure_at<Commit>(payload, 0);
    if (damaged_at_ || !commit || commit->offset != at || commit->blocks != pending_.size() || commit->chain != chain_)
      return refuse(format("it is damaged at byte {}; write the digest again", damaged_at_.value_or(at)));
    for (const Block& block : pending_)
      if (!known_.emplace(block.rank, block.part).second)
        return refuse(
            format("it contains part {} of rank {} twice; write the digest again", block.part, block.rank.value));
    file_.blocks.insert(file_.blocks.end(), pending_.begin(), pending_.end());
    pending_.clear();
    return {};
  }

  std::string_view bytes_;
  DigestFile& file_;
  std::vector<Block> pending_;
  std::set<std::pair<RankId, std::uint16_t>> known_;
  std::optional<std::size_t> damaged_at_;
  std::uint32_t chain_ = 0;
};

}  // namespace

bool looks_like_digest(std::string_view head) {
  return head.starts_with(std::string_view{file_magic.data(), file_magic.size()});
}

Result<DigestFile> read_digest(std::string_view bytes) {
  RS_TRY(auto head, read_head(bytes));
  auto& [file, first_block] = head;
  RS_TRY_VOID(BlockWalk(bytes, file).from(first_block));
  return std::move(file);
}

}  // namespace rankscope::digest
