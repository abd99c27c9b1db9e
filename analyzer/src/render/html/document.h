// The frame of a page: head, navigation, sections, footer; no network, nothing beside it, usable without a script.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rankscope::analyzer::html {

struct DocumentSection {
  std::string id;
  std::string_view title;
  std::string body;  ///< made by a Writer
};

struct DocumentTitle {
  std::string kind;       ///< "rankscope report"
  std::string about;      ///< "4 ranks, 20 steps"
  std::string run{};      ///< name and date of what it is about; may be empty
  std::string command{};  ///< that was recorded; may be empty
};

/// The first section is the verdict.
[[nodiscard]] std::string document(const DocumentTitle& title, std::span<const DocumentSection> sections);

}  // namespace rankscope::analyzer::html
