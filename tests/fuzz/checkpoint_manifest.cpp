// The bytes of manifest.json of a checkpoint -> the manifest -> its text, which must say the same. The checksum is put
// right first: damage that it catches is the business of tests/trainer/checkpoint, here it is what stands behind it.
#include <zlib.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fuzz/fuzz_target.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/checkpoint/manifest.h"

using namespace rankscope::trainer;

namespace {

std::string repaired(std::string text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return text;
  json.erase("checksum");
  const std::string others = json.dump();
  const auto crc = ::crc32_z(0, reinterpret_cast<const unsigned char*>(others.data()), others.size());
  json["checksum"] = rankscope::format("{:08x}", crc);
  return json.dump();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  for (const std::string& candidate : {text, repaired(text)}) {
    const auto manifest = parse_manifest(candidate, "manifest.json");
    if (!manifest) {
      if (manifest.error().message.empty()) std::abort();  // an error without a sentence helps nobody
      continue;
    }
    const auto again = parse_manifest(manifest_text(*manifest), "again");
    if (!again || *again != *manifest) std::abort();
    if (const auto complete = check_complete(*manifest); !complete && complete.error().message.empty()) std::abort();
  }
  return 0;
}
