#include "exports/shared/output_target.h"

namespace rankscope::analyzer {

bool is_own_export(std::string_view head) {
  constexpr std::size_t application_at = 68;
  if (head.starts_with("SQLite format 3"))
    return head.size() > application_at && head.substr(application_at).starts_with(sqlite_application);
  return head.find(chrome_writer) != std::string_view::npos || head.find(kineto_schema) != std::string_view::npos;
}

}  // namespace rankscope::analyzer
