// Any bytes as an answer of NCCL RAS -> the verdict.
#include <cstdlib>
#include <span>

#include "fuzz/fuzz_target.h"
#include "rankscope/analyzer/hang/hang.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  const std::filesystem::path answer = folder.write("ras.json", {data, size});
  const auto report = rankscope::analyzer::judge_dumps(std::span{&answer, 1}, {});
  if (!report && report.error().message.empty()) std::abort();
  if (report && rankscope::analyzer::render_hang_json(*report).empty()) std::abort();
  return 0;
}
