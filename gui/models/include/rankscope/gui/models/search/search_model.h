// What was found, as a table; and the next and previous of it.
#pragma once

#include <QString>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// The names that spans have, once each, with their short forms. Made once per run.
class SpanNames {
 public:
  explicit SpanNames(const Run& run);

  /// A name in both forms, either of which may be what the user types.
  struct Name {
    StringId id;
    QString full;
    QString short_form;  ///< empty where it is the same
  };
  [[nodiscard]] const std::vector<Name>& names() const { return names_; }

 private:
  std::vector<Name> names_;
};

/// How the text of a query is read.
enum class SearchSyntax : std::uint8_t { plain, regex };
enum class SearchOrder : std::uint8_t { earliest, latest, longest, shortest };  ///< what comes first

/// Which spans are looked for; all conditions must hold.
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

/// Searches in the background; until the new hits are there the old ones stay. Honours the session's filter of ranks.
class SearchModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { start, length, name, place };
  /// Whose text is searched for: that of look_for(), or that of the session's filter, which it then follows.
  enum class Text : std::uint8_t { own, filter };
  explicit SearchModel(Session& session, QObject* parent = nullptr, Text text = Text::own);

  /// Orders by start or by length, whichever end is asked for first; other columns have no order.
  void sort(int column, Qt::SortOrder direction) override;
  [[nodiscard]] static bool can_sort(int column) { return column == start || column == length; }

  /// An empty text finds nothing.
  void look_for(const QString& text, SearchSyntax syntax);
  /// Only what touches the visible range counts, which is followed; else all of the run does.
  void set_in_sight(bool in_sight);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "1,204 hits (3 names) in the whole run, 1.2 s in total", "No match: ...", or what is wrong with the expression;
  /// empty where nothing is looked for.
  [[nodiscard]] QString summary() const { return summary_; }
  /// Something was looked for and is not there.
  [[nodiscard]] bool has_no_match() const { return !is_wrong_ && !summary_.isEmpty() && result_.hits == 0; }
  [[nodiscard]] bool is_wrong() const { return is_wrong_; }
  [[nodiscard]] const SearchResult& result() const { return result_; }

  /// The row of the selected span, else that from which the user went last; -1: none.
  [[nodiscard]] int current() const { return current_; }
  void go_to(int row);
  /// From the current one, around at the ends.
  void next();
  void previous();

 Q_SIGNALS:
  void found();  ///< summary and rows are of what was asked last
  void currentChanged(int row);

 private:
  [[nodiscard]] std::size_t row_count() const override { return result_.listed.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  void forget();
  void ask();
  void follow_selection();
  [[nodiscard]] int row_of_selection() const;
  void take(const Result<std::optional<SearchResult>>& found);
  [[nodiscard]] QString summary_of(const SearchResult& result) const;
  /// "on 2 ranks in the whole run"
  [[nodiscard]] QString place_of_search() const;

  Session& session_;
  SearchQuery query_;
  SearchResult result_;
  QString summary_;
  bool is_wrong_ = false;
  bool in_sight_ = false;
  int current_ = -1;
  std::shared_ptr<const SpanNames> names_;
  std::shared_ptr<const Run> names_of_;
  LatestJob job_;
};

}  // namespace rankscope::gui
