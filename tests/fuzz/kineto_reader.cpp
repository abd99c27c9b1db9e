// The bytes of a trace file -> Run -> text, its summary, and Kineto again, which must be JSON. What is packed is not
// looked into here: the fuzzer would learn gzip instead of JSON.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fuzz/fuzz_target.h"
#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/summary.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  if (size >= 2 && data[0] == 0x1F && data[1] == 0x8B) return 0;
  const std::filesystem::path trace = folder.write("rank0.json", {data, size});
  const auto run = rankscope::analyzer::open_run(std::span{&trace, 1}, {.rank_map = {}, .progress = {}, .threads = 1});
  if (!run) {
    if (run.error().message.empty()) std::abort();  // an error without a sentence helps nobody
    return 0;
  }
  std::ostringstream text;
  rankscope::write_text(**run, text);
  if (rankscope::analyzer::summarize(**run).empty()) std::abort();
  const std::filesystem::path again = folder.path() / "rank1.json";
  for (const rankscope::analyzer::ExportInfo& format : rankscope::analyzer::exports()) {
    if (format.id != "kineto") continue;
    if (!format.write(**run, again, {})) std::abort();
    if (!nlohmann::json::accept(std::ifstream{again})) std::abort();
    const auto second = rankscope::analyzer::open_run(again);
    // What was written is whole, so that nothing of it may be lost.
    if (!second || (*second)->spans().size() != (*run)->spans().size()) std::abort();
  }
  return 0;
}
