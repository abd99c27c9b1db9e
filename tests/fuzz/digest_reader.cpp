// The bytes of a digest file -> the digests of its ranks -> bytes, and the sections that they give. Checksums are put
// right first: damage that they catch is the business of tests/core/digest, here it is what stands behind them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "digest/digest_set.h"
#include "digest/layout.h"
#include "digest/merged_sections.h"
#include "fuzz/fuzz_target.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "recording/format/crc32c.h"

namespace {

using namespace rankscope::digest;
using namespace rankscope::analyzer;
using rankscope::recording::crc32c;
using Bytes = std::vector<std::uint8_t>;

template <class Structure>
bool get(const Bytes& bytes, std::size_t at, Structure& structure) {
  if (at > bytes.size() || bytes.size() - at < sizeof structure) return false;
  std::memcpy(&structure, bytes.data() + at, sizeof structure);
  return true;
}

template <class Structure>
void put_sealed(Bytes& bytes, std::size_t at, Structure structure) {
  structure.header_crc = crc32c(&structure, offsetof(Structure, header_crc));
  std::memcpy(bytes.data() + at, &structure, sizeof structure);
}

/// Where the blocks begin; the end of the bytes if they do not.
std::size_t repair_head(Bytes& bytes) {
  FileHeader header;
  if (!get(bytes, 0, header) || bytes.size() - sizeof header < header.job_bytes) return bytes.size();
  header.magic = file_magic;
  header.major = format_major;
  header.job_crc = crc32c(bytes.data() + sizeof header, header.job_bytes);
  put_sealed(bytes, 0, header);
  return sizeof header + static_cast<std::size_t>(padded(header.job_bytes));
}

void repair_checksums(Bytes& bytes) {
  Commit commit;
  BlockHeader header;
  for (std::size_t at = repair_head(bytes); get(bytes, at, header);
       at += static_cast<std::size_t>(padded(header.bytes))) {
    std::uint8_t* const payload = bytes.data() + at + sizeof header;
    if (bytes.size() - at - sizeof header < header.bytes) return;
    header.magic = block_magic;
    if (header.part == commit_part && header.bytes >= sizeof commit) {
      commit.offset = at;
      std::memcpy(payload, &commit, sizeof commit);
      commit.blocks = 0;
    } else {
      ++commit.blocks;
    }
    header.payload_crc = crc32c(payload, static_cast<std::size_t>(header.bytes));
    put_sealed(bytes, at, header);
    get(bytes, at, header);
    commit.chain = crc32c(&header.header_crc, sizeof header.header_crc, commit.chain);
    at += sizeof header;
  }
}

/// What was read is the same if it is written and read again.
void write_again(const DigestSet& set) {
  DigestWriter out{Job{}};
  for (const RankDigest& rank : set.ranks()) write_digest(rank, out);
  out.commit();
  DigestSet again;
  const std::string bytes = out.take();
  if (!again.add("again.rsd", bytes)) std::abort();
  if (again.ranks().size() != set.ranks().size()) std::abort();
  for (std::size_t row = 0; row < set.ranks().size(); ++row)
    if (again.ranks()[row] != set.ranks()[row]) std::abort();
}

void merge(const RankDigest& rank) {
  static const auto run = *rankscope::run_from_text("0 op 0 1 op\n");
  const std::span<const RankDigest> alone{&rank, 1};
  const ClockTrust clocks{*run};
  const StepsResult steps = steps_from(alone, clocks, {});
  for (const auto* section : {&steps.section, &steps.all}) {
    static_cast<void>(kernels_from(alone, *section, {}));
    static_cast<void>(copies_from(alone, *section, steps.all, {}));
    static_cast<void>(launches_from(alone, *section, {}));
    static_cast<void>(data_loading_from(alone, *section, {}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, data + size);
  repair_checksums(bytes);
  DigestSet set;
  const auto added = set.add("a.rsd", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!added) {
    if (added.error().message.empty()) std::abort();  // an error without a sentence helps nobody
    return 0;
  }
  write_again(set);
  for (const RankDigest& rank : set.ranks()) merge(rank);
  return 0;
}
