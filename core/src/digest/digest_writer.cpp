#include <cstddef>
#include <string>
#include <utility>

#include "digest/layout.h"
#include "rankscope/core/digest/digest_file.h"
#include "rankscope/core/digest/part_bytes.h"
#include "recording/format/crc32c.h"

namespace rankscope::digest {
namespace {

using recording::crc32c;

template <class Structure>
std::string_view bytes_of(const Structure& structure) {
  return {reinterpret_cast<const char*>(&structure), sizeof structure};
}

void append_padded(std::string& to, std::string_view bytes) {
  to.append(bytes);
  to.append(padded(bytes.size()) - bytes.size(), '\0');
}

}  // namespace

DigestWriter::DigestWriter(const Job& job) {
  PartWriter facts;
  facts.text(job.source);
  facts.signed_number(job.world_size);
  facts.text(job.name);
  facts.text(job.recording);
  FileHeader header;
  header.job_bytes = static_cast<std::uint32_t>(facts.bytes().size());
  header.job_crc = crc32c(facts.bytes().data(), facts.bytes().size());
  header.header_crc = crc32c(&header, offsetof(FileHeader, header_crc));
  made_.append(bytes_of(header));
  append_padded(made_, facts.bytes());
}

void DigestWriter::put_block(const Block& block) {
  BlockHeader header;
  header.part = block.part;
  header.version = block.version;
  header.rank = block.rank.value;
  header.bytes = block.bytes.size();
  header.payload_crc = crc32c(block.bytes.data(), block.bytes.size());
  header.header_crc = crc32c(&header, offsetof(BlockHeader, header_crc));
  made_.append(bytes_of(header));
  append_padded(made_, block.bytes);
  chain_ = crc32c(&header.header_crc, sizeof header.header_crc, chain_);
}

void DigestWriter::add(const Block& block) {
  RS_CHECK(block.part != commit_part);
  put_block(block);
  ++pending_;
}

void DigestWriter::commit() {
  const Commit commit{taken_bytes_ + made_.size(), std::exchange(pending_, 0), chain_};
  put_block({commit_part, 0, RankId::none(), bytes_of(commit)});
}

std::string DigestWriter::take() {
  taken_bytes_ += made_.size();
  return std::exchange(made_, {});
}

}  // namespace rankscope::digest
