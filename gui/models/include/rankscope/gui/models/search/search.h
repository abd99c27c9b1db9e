// Spans by name: the few thousand names are searched first, then spans with these names are collected.
#pragma once

#include <QString>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/result.h"

namespace rankscope::gui {

/// The names that spans have, once each, with their short forms. Made once per run.
class SpanNames {
 public:
  explicit SpanNames(const Run& run);

  struct Name {
    StringId id;
    QString full;
    QString short_form;  ///< empty where it is the same
  };
  [[nodiscard]] const std::vector<Name>& names() const { return names_; }

 private:
  std::vector<Name> names_;
};

enum class SearchSyntax : std::uint8_t { plain, regex };
enum class SearchOrder : std::uint8_t { earliest, latest, longest, shortest };  ///< what comes first

struct SearchQuery {
  QString text;  ///< upper and lower case are the same
  SearchSyntax syntax = SearchSyntax::plain;
  SearchOrder order = SearchOrder::earliest;
  std::vector<RankId> ranks{};      ///< ascending; empty: all
  std::optional<TimeRange> time{};  ///< only what touches it

  bool operator==(const SearchQuery&) const = default;
};

/// Hits are counted in full and listed up to a limit.
struct SearchResult {
  static constexpr std::size_t most_listed = 100'000;
  std::vector<SpanId> listed;  ///< in the order asked for
  std::uint64_t hits = 0;
  std::size_t names = 0;  ///< that match
  std::int64_t total_ns = 0;
  /// Of durations: place i counts those of less than 2^i ns and not less than 2^(i-1); place 0 those without length.
  std::array<std::uint64_t, 64> histogram{};
};

/// `usage` for a wrong regular expression, with the place of the fault; nothing if it was stopped.
[[nodiscard]] Result<std::optional<SearchResult>> search(const Run& run, const SpanNames& names,
                                                         const SearchQuery& query, const std::stop_token& stop);

}  // namespace rankscope::gui
