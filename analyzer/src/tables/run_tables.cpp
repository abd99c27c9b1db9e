#include "rankscope/analyzer/tables/run_tables.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "tables/rows.h"

namespace rankscope::analyzer {
namespace {

/// Those that Arrow has, in the order of the description or as asked for.
Result<std::vector<const ColumnDescription*>> columns_of(const TableDescription& table,
                                                         const std::vector<std::string>& wanted) {
  std::vector<const ColumnDescription*> all;
  for (const ColumnDescription& column : table.columns)
    if (column.place != ColumnPlace::sqlite) all.push_back(&column);
  if (wanted.empty()) return all;
  std::vector<const ColumnDescription*> chosen;
  for (const std::string& name : wanted) {
    const auto found =
        std::ranges::find(all, name, [](const ColumnDescription* column) { return column->arrow_name(); });
    if (found == all.end()) {
      std::string names;
      for (const ColumnDescription* column : all)
        names += format("{}{}", names.empty() ? "" : ", ", column->arrow_name());
      return fail(ErrorKind::usage, format("table {} has no column '{}'; choose from: {}", table.name, name, names));
    }
    if (std::ranges::find(chosen, *found) != chosen.end())
      return fail(ErrorKind::usage, format("table {}: column '{}' is asked for twice", table.name, name));
    chosen.push_back(*found);
  }
  return chosen;
}

Result<const TableDescription*> table_named(std::string_view name) {
  if (const TableDescription* found = find_table(name)) return found;
  std::string names;
  for (const TableDescription& table : table_descriptions())
    names += format("{}{}", names.empty() ? "" : ", ", table.name);
  return fail(ErrorKind::usage, format("'{}' is not a table; choose from: {}", name, names));
}

/// A choice that would be ignored is an error.
Result<void> check_choice(const TableDescription& table, const TableChoice& choice) {
  const bool by_ranks = table.choice == RowChoice::ranks || table.choice == RowChoice::ranks_and_steps;
  const bool by_steps = table.choice == RowChoice::steps || table.choice == RowChoice::ranks_and_steps;
  if (!choice.ranks.empty() && !by_ranks)
    return fail(ErrorKind::usage, format("ranks: the rows of table {} do not belong to ranks", table.name));
  if (choice.steps && !by_steps)
    return fail(ErrorKind::usage, format("steps: the rows of table {} do not belong to steps", table.name));
  return {};
}

}  // namespace

namespace {

/// How many source rows are read before it is seen whether the first rows are there.
constexpr std::size_t source_rows_at_a_time = 1 << 12;

void fill(const TableRows& rows, TableSources& sources, const TableChoice& choice, TableData& data, RowWriter& writer) {
  const std::size_t count = rows.count(sources);
  if (!choice.first) return rows.fill(sources, {0, count}, writer);
  for (std::size_t from = 0; from < count && data.rows() < *choice.first; from += source_rows_at_a_time)
    rows.fill(sources, {from, std::min(count, from + source_rows_at_a_time)}, writer);
  for (ColumnData& column : data.columns) column.truncate(*choice.first);
}

/// A recording may be damaged, or made by hand.
Result<void> check_fits(const TableData& data) {
  for (const ColumnData& column : data.columns)
    if (!column.fits())
      return fail(ErrorKind::unreadable,
                  format("table {}: a number in column {} has more than 32 bits; the recording is damaged, or was not "
                         "made by rankscope",
                         data.description->name, column.description().arrow_name()));
  return {};
}

}  // namespace

struct RunTables::State {
  explicit State(std::shared_ptr<const Run> the_run) : run(std::move(the_run)), sources(*run) {}
  std::shared_ptr<const Run> run;
  TableSources sources;
};

RunTables::RunTables(std::shared_ptr<const Run> run) : state_(std::make_unique<State>(std::move(run))) {}
RunTables::RunTables(RunTables&&) noexcept = default;
RunTables& RunTables::operator=(RunTables&&) noexcept = default;
RunTables::~RunTables() = default;

const Run& RunTables::run() const { return *state_->run; }
const std::shared_ptr<const Run>& RunTables::shared_run() const { return state_->run; }
const Report& RunTables::report() { return state_->sources.whole_report(); }

Result<TableData> RunTables::read(std::string_view name, const TableChoice& choice) {
  RS_TRY(const TableDescription* const table, table_named(name));
  RS_TRY_VOID(check_choice(*table, choice));
  RS_TRY(const auto columns, columns_of(*table, choice.columns));
  RS_TRY_VOID(state_->sources.choose(choice));
  const auto rows = std::ranges::find(table_rows(), name, &TableRows::name);
  if (const std::string why = why_missing(*rows, state_->sources); !why.empty())
    return fail(ErrorKind::not_computable, format("table {} cannot be computed: {}", name, why));
  TableData data{table, {}};
  data.columns.reserve(columns.size());
  std::vector<ColumnData*> places(table->columns.size(), nullptr);
  for (const ColumnDescription* column : columns) {
    data.columns.emplace_back(*column);
    places[static_cast<std::size_t>(column - table->columns.data())] = &data.columns.back();
  }
  RowWriter writer{std::move(places)};
  fill(*rows, state_->sources, choice, data, writer);
  RS_TRY_VOID(check_fits(data));
  return data;
}

}  // namespace rankscope::analyzer
