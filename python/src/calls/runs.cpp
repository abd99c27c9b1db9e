// Opening runs and exporting them.
#include <filesystem>
#include <vector>

#include "calls/border.h"
#include "calls/request.h"
#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"

namespace rankscope::python {
namespace {

Result<std::shared_ptr<const Run>> open(const char* request_text, rankscope_task* task) {
  RS_TRY(const Request request, Request::parse(request_text, {"paths", "rank_map", "keep_texts"}));
  RS_TRY(const auto names, request.texts("paths"));
  RS_TRY(const auto rank_map, request.text("rank_map", ""));
  RS_TRY(const bool keep_texts, request.flag("keep_texts"));
  if (names.empty()) return fail(ErrorKind::usage, "give the path of a recording or of traces");
  analyzer::ImportOptions options;
  RS_TRY(options.rank_map, analyzer::rank_map_from(rank_map));
  options.texts = keep_texts ? Texts::as_recorded : Texts::without_secrets;
  options.progress = progress_of(task);
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : names) {
    if (name.empty()) return fail(ErrorKind::usage, "a path is empty; give a recording, e.g. run.rankscope");
    paths.emplace_back(name);
  }
  return analyzer::open_run(paths, options);
}

Result<void> check_output(const std::filesystem::path& out) {
  if (!analyzer::holds_original(out)) return {};
  return fail(ErrorKind::usage, format("{} is a recording or a trace and would be overwritten; choose another name "
                                       "for the output, or remove it first",
                                       out.string()));
}

Result<void> export_run(const Run& run, const char* request_text, rankscope_task* task) {
  RS_TRY(const Request request, Request::parse(request_text, {"to", "out"}));
  RS_TRY(const auto to, request.text("to", ""));
  RS_TRY(const auto out, request.text("out", ""));
  if (out.empty()) return fail(ErrorKind::usage, "give the file or folder to write");
  RS_TRY_VOID(check_output(out));
  std::string formats;
  for (const analyzer::ExportInfo& info : analyzer::exports()) {
    if (info.id == to) return info.write(run, out, progress_of(task));
    formats += format("{}{}", formats.empty() ? "" : ", ", info.id);
  }
  return fail(ErrorKind::usage, format("there is no export '{}'; choose from: {}", to, formats));
}

}  // namespace
}  // namespace rankscope::python

std::int32_t rankscope_open(const char* request, rankscope_task* task, rankscope_run** run, char** message) {
  return rankscope::python::guarded(message, [&]() -> rankscope::Result<void> {
    RS_TRY(auto opened, rankscope::python::open(request, task));
    *run = new rankscope_run{std::move(opened)};
    return {};
  });
}

std::int32_t rankscope_open_text(const char* text, std::int64_t bytes, rankscope_task* task, rankscope_run** run,
                                 char** message) {
  return rankscope::python::guarded(message, [&]() -> rankscope::Result<void> {
    RS_TRY(auto opened,
           rankscope::run_from_text({text, static_cast<std::size_t>(bytes)}, rankscope::Texts::without_secrets,
                                    rankscope::python::progress_of(task)));
    *run = new rankscope_run{std::move(opened)};
    return {};
  });
}

void rankscope_close(rankscope_run* run) { delete run; }

std::int32_t rankscope_check_output(const char* out, char** message) {
  return rankscope::python::guarded(message, [&] { return rankscope::python::check_output(out); });
}

std::int32_t rankscope_export(rankscope_run* run, const char* request, rankscope_task* task, char** message) {
  return rankscope::python::guarded(message, [&] {
    const std::scoped_lock lock{run->in_use};
    return rankscope::python::export_run(run->tables.run(), request, task);
  });
}
