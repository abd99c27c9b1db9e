// The bytes of one segment file -> Run -> text. Checksums are put right first: damage that they catch is the business
// of tests/core/recording/mutation_test.cpp, here it is what stands behind them.
#include <cstring>
#include <sstream>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/recording.h"
#include "recording/format/crc32c.h"

namespace {

using namespace rankscope::recording;
using Bytes = std::vector<std::uint8_t>;

std::uint32_t word_at(const Bytes& bytes, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void put_word(Bytes& bytes, std::size_t offset, std::uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void repair_chunk(Bytes& bytes, std::size_t at, std::uint32_t committed) {
  const std::uint8_t* const chunk = bytes.data() + at;
  const std::uint32_t head = crc32c(chunk, offsetof(ChunkHeader, committed));
  put_word(bytes, at + offsetof(ChunkHeader, payload_crc), crc32c(chunk + chunk_header_bytes, committed));
  put_word(bytes, at + offsetof(ChunkHeader, header_crc), crc32c(&committed, sizeof committed, head));
}

void repair_checksums(Bytes& bytes) {
  if (bytes.size() < segment_header_bytes) return;
  put_word(bytes, offsetof(SegmentHeader, static_crc), crc32c(bytes.data(), sizeof(SegmentStatic)));
  std::size_t at = word_at(bytes, offsetof(SegmentStatic, header_bytes));
  while (at % 8 == 0 && at + chunk_header_bytes <= bytes.size()) {
    const std::uint32_t capacity = word_at(bytes, at + offsetof(ChunkHeader, capacity));
    const std::uint32_t committed = word_at(bytes, at + offsetof(ChunkHeader, committed));
    const std::size_t room = bytes.size() - at - chunk_header_bytes;
    if (word_at(bytes, at) != chunk_magic || committed > room) return;
    repair_chunk(bytes, at, committed);
    at += chunk_header_bytes + std::size_t{capacity};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  Bytes bytes(data, data + size);
  repair_checksums(bytes);
  folder.write("a.rseg", bytes);
  const auto run = read_recording(folder.path());
  if (!run) {
    if (run.error().message.empty()) std::abort();  // an error without a sentence helps nobody
    return 0;
  }
  std::ostringstream text;
  rankscope::write_text(**run, text);
  return 0;
}
