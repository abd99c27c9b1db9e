// The bytes of a buffer of activity records, of any version -> what is stored -> a recording -> Run. A record begins
// with two bytes that say how long it is; CUPTI's own walk over a buffer is not tested here. Names are pointers: a
// fuzzer's are replaced by those of a few texts.
#include "cupti/records.h"

#include <array>
#include <filesystem>
#include <memory>
#include <sstream>

#include "fuzz/fuzz_target.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"

namespace {

namespace cupti = rankscope::collectors::cupti;
namespace recording = rankscope::recording;

constexpr std::array<std::uint32_t, 4> versions{22, 26, 28, 130001};
constexpr std::array<std::string_view, 4> texts{"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "",
                                                "cudaLaunchKernel"};

cupti::Texts invented_texts() {
  const auto text = [](void*, std::uint64_t address) { return texts[address % texts.size()]; };
  return {.kernel = text, .text = text, .call = [](void*, cupti::CallDomain, std::uint32_t number) {
            return texts[number % texts.size()];
          }};
}

/// Only what a record says is stored: its shape tells what is there.
void decode(std::span<const std::byte> bytes, recording::ThreadWriter& pen) {
  if (bytes.empty()) return;
  cupti::Contexts contexts;
  cupti::RecordDecoder decoder{versions[std::to_integer<std::size_t>(bytes[0]) % versions.size()], 1, invented_texts(),
                               contexts};
  for (auto rest = bytes.subspan(1); rest.size() > 2;) {
    const auto wanted = std::to_integer<std::size_t>(rest[0]) | std::to_integer<std::size_t>(rest[1]) << 8;
    rest = rest.subspan(2);
    const auto record = rest.first(std::min(wanted, rest.size()));
    // A copy of its own, so that a byte too much is seen.
    const std::vector<std::byte> alone{record.begin(), record.end()};
    write(pen, decoder.decode(alone));
    rest = rest.subspan(record.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  const auto path = folder.path() / ("a" + std::string{recording::segment_suffix});
  std::filesystem::remove(path);
  {
    const auto segment = recording::SegmentWriter::create({.path = path, .ring_kib = 64, .rank_source = ""});
    if (!segment) std::abort();
    const auto pen = (*segment)->thread();
    pen->mark("begin");
    decode(std::as_bytes(std::span{data, size}), *pen);
  }
  const auto run = recording::read_recording(folder.path());
  if (!run) std::abort();  // there is a mark at least
  // What was not read: our own records are never unknown or broken.
  if ((*run)->quality().of(rankscope::Counter::records_unknown) > 0) std::abort();
  if ((*run)->quality().of(rankscope::Counter::chunks_corrupt) > 0) std::abort();
  std::ostringstream text;
  rankscope::write_text(**run, text);
  return 0;
}
