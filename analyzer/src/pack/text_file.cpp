#include "pack/text_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {

Result<std::shared_ptr<const Run>> read_text_file(const std::filesystem::path& path, const ImportOptions& options) {
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) return fail(ErrorKind::unreadable, format("cannot read {}", path.string()));
  return run_from_text(text, options.texts).map_error(while_doing(path.string()));
}

}  // namespace rankscope::analyzer
