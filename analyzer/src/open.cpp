#include "rankscope/analyzer/open.h"

#include <array>
#include <fstream>
#include <string_view>

#include "rankscope/analyzer/pack.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

/// Formats of other tools that people will try, and what to say until they can be read.
struct Foreign {
  std::string_view suffix;
  std::string_view what;
};
constexpr std::array foreign{
    Foreign{".json", "a trace in JSON"},
    Foreign{".json.gz", "a trace in JSON"},
    Foreign{".nsys-rep", "an Nsight Systems report"},
    Foreign{".sqlite", "an Nsight Systems export"},
};

Result<std::shared_ptr<const Run>> read_text_file(const fs::path& path) {
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) return fail(ErrorKind::unreadable, format("cannot read {}", path.string()));
  return run_from_text(text).map_error(while_doing(path.string()));
}

}  // namespace

Result<std::shared_ptr<const Run>> open_run(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string();
  if (fs::is_regular_file(path, error)) {
    if (name.ends_with(".txt")) return read_text_file(path);  // what `rankscope dump` prints
    if (looks_like_pack(path)) return read_pack(path);
    for (const Foreign& format_ : foreign)
      if (name.ends_with(format_.suffix))
        return fail(ErrorKind::unreadable,
                    format("{} looks like {}, which this version cannot read yet; give a .rankscope folder",
                           path.string(), format_.what));
    return fail(ErrorKind::unreadable, format("{} is a file; give a .rankscope folder", path.string()));
  }
  return recording::read_recording(path);
}

}  // namespace rankscope::analyzer
