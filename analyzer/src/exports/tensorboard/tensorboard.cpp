#include "exports/shared/formats.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "exports/shared/output_place.h"
#include "exports/tensorboard/file.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view suffix = ".pt.trace.json";
constexpr std::size_t spans_between_calls = 1 << 14;

/// Letters, digits, dots and dashes of a host's name: it becomes part of a file name.
std::string host_name(const Run& run, RankId rank) {
  std::string name;
  for (const char c : run.text(run.process_of(rank).host)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    name += plain ? c : '-';
  }
  return name.empty() ? "host" : name;
}

/// HOST_RANK.TIME.pt.trace.json: the plugin takes HOST_RANK as the worker, and compares equal times of all workers.
std::string file_name(const Run& run, RankId rank) {
  const std::int64_t ms = std::max<std::int64_t>(0, run.info().origin_unix_ns / 1'000'000);
  return format("{}_{}.{:013}{}", host_name(run, rank), rank.value, ms, suffix);
}

}  // namespace

Result<void> write_tensorboard(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  if (run.ranks().empty())
    return fail(ErrorKind::not_computable,
                "no process of this recording has a rank, but TensorBoard shows only ranks; use another format, such "
                "as perfetto");
  RS_TRY(auto folder, OutputPlace::folder(out));
  const StepsResult steps = find_steps(run, ClockTrust{run}, {});
  const TensorboardPlan plan{run, steps.section ? &*steps.section : nullptr};
  std::size_t spans = 0;
  const double all = static_cast<double>(run.spans().size() + 1);
  for (const RankId rank : run.ranks()) {
    RS_TRY(auto file, OutputFile::create(folder.path() / file_name(run, rank)));
    TextWriter text{file};
    const Tick tick = [&] {
      if (++spans % spans_between_calls != 0 || !progress) return true;
      return progress(static_cast<double>(spans) / all);
    };
    if (!write_tensorboard_file(plan, rank, text, tick))
      return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
    RS_TRY_VOID(text.finish());
    RS_TRY_VOID(file.commit());
  }
  if (progress && !progress(1.0))
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
  return folder.commit();
}

}  // namespace rankscope::analyzer
