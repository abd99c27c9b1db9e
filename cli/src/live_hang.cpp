#include "live_hang.h"

#include <algorithm>
#include <chrono>

#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::cli {

std::int64_t now_unix_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

collectors::HangSeen judge_live_hang(const std::filesystem::path& out) {
  const auto run = analyzer::open_run(out);
  if (!run)
    return {.headline = "The job made no progress.",
            .text = format("the recording cannot be judged: {}\n", run.error().message)};
  const analyzer::HangReport report = analyzer::judge_run(**run, now_unix_ns());
  collectors::HangSeen seen{.headline = analyzer::hang_headline(report),
                            .text = analyzer::render_hang_text(report, analyzer::Colour::no)};
  // What cannot be told may be a hang.
  seen.stuck = report.verdict != analyzer::HangVerdict::running && report.verdict != analyzer::HangVerdict::finished &&
               report.verdict != analyzer::HangVerdict::slow;
  for (const analyzer::HangRoot& root : report.roots) {
    if (root.kind == analyzer::HangKind::dead) continue;
    for (const RankId rank : root.ranks)
      if (std::ranges::binary_search((*run)->ranks(), rank)) {
        const Process& process = (*run)->process_of(rank);
        seen.processes.push_back({rank.value, process.pid, std::string{(*run)->text(process.host)}});
      }
  }
  return seen;
}

}  // namespace rankscope::cli
