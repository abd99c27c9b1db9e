#include "exports/shared/formats.h"

#include <string>

#include "exports/kineto/file.h"
#include "exports/shared/output_place.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

Result<void> write_rank(const Run& run, RankId rank, const KinetoWords& words, const std::filesystem::path& path,
                        SpanProgress& progress) {
  RS_TRY(auto file, OutputFile::create(path));
  TextWriter text{file};
  if (!KinetoFile{run, rank, words, text, progress}.write())
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", path.string()));
  RS_TRY_VOID(text.finish());
  return file.commit();
}

}  // namespace

Result<void> write_kineto(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  SpanProgress done{progress, run.spans().size()};
  if (run.ranks().empty())
    return fail(ErrorKind::not_computable,
                "no process of this run has a rank, but a Kineto trace needs a file per rank; use another format, such "
                "as perfetto");
  const KinetoWords words{run};
  if (run.ranks().size() == 1) return write_rank(run, run.ranks().front(), words, out, done);
  RS_TRY(auto folder, OutputPlace::folder(out));
  const std::size_t width = std::to_string(run.ranks().back().value).size();
  for (const RankId rank : run.ranks())
    RS_TRY_VOID(write_rank(run, rank, words, folder.path() / format("rank-{:0{}}.json", rank.value, width), done));
  return folder.commit();
}

}  // namespace rankscope::analyzer
