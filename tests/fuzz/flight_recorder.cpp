// The bytes of a dump, pickle or JSON, beside a good one -> the verdict as text, JSON and page.
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzz/fuzz_target.h"
#include "rankscope/analyzer/hang/hang.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  namespace analyzer = rankscope::analyzer;
  static const std::filesystem::path good = [] {
    constexpr const char* text =
        R"({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "pg_status": {},
            "entries": [{"record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1,
            "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce", "input_sizes": [[4]], "input_dtypes": ["Float"],
            "state": "scheduled", "retired": false, "time_created_ns": 1}]})";
    return folder.write("dump_0", {reinterpret_cast<const std::uint8_t*>(text), std::char_traits<char>::length(text)});
  }();
  const std::array<std::filesystem::path, 2> paths{good, folder.write("dump_1", {data, size})};
  const auto report = analyzer::judge_dumps(paths, {});
  if (!report) std::abort();  // the other dump can always be read
  if (analyzer::render_hang_text(*report, analyzer::Colour::no).empty()) std::abort();
  if (!nlohmann::json::accept(analyzer::render_hang_json(*report))) std::abort();
  if (analyzer::render_hang_html(*report).empty()) std::abort();
  return 0;
}
