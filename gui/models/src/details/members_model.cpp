// The members of an operation: who came when, who waited for whom.
#include <algorithm>
#include <limits>

#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/details/details_model.h"

namespace rankscope::gui {
namespace {

constexpr std::uint32_t no_operation = std::numeric_limits<std::uint32_t>::max();

std::vector<TableColumn> member_columns() {
  const auto number = [](const QString& title) { return TableColumn{.title = title, .align = Align::right}; };
  return {{MembersModel::tr("Member")},
          number(MembersModel::tr("Arrived")),
          number(MembersModel::tr("Waited")),
          {MembersModel::tr("Waited for")},
          number(MembersModel::tr("Duration"))};
}

}  // namespace

MembersModel::MembersModel(Session& session, QObject* parent)
    : TableModel(member_columns(), parent), session_(session), looks_(CloserLooks::of(session)) {
  connect(&session, &Session::selectionChanged, this, &MembersModel::reload);
  connect(&session, &Session::runOpened, this, &MembersModel::index_operations);
  connect(&session, &Session::reportChanged, this, &MembersModel::index_operations);
  connect(&looks_, &CloserLooks::changed, this, &MembersModel::reload);
  index_operations();
}

void MembersModel::index_operations() {
  operation_of_row_.clear();
  const auto& report = session_.report();
  if (report != nullptr && report->collectives) {
    operation_of_row_.assign(session_.run()->collectives().size(), no_operation);
    const auto& operations = report->collectives->operations;
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      for (const std::uint32_t row : operations[i].members) operation_of_row_[row] = i;
  }
  reload();
}

void MembersModel::reload() {
  beginResetModel();
  rows_.clear();
  verdict_.clear();
  const auto& selected = session_.selection();
  const std::uint32_t part = selected ? session_.run()->span(*selected).collective : Span::no_collective;
  if (part != Span::no_collective) {
    const auto& report = session_.report();
    if (report == nullptr) {
      verdict_ = tr("As soon as the report is ready, this line shows who waited for whom.");
    } else if (!report->collectives) {
      verdict_ = qt_text(report->collectives.error().why);
    } else if (operation_of_row_[part] == no_operation) {
      verdict_ = tr("The other members of this operation were not found.");
    } else {
      const analyzer::Operation& operation = report->collectives->operations[operation_of_row_[part]];
      find_members(operation);
      verdict_ = verdict_on(operation);
    }
  }
  endResetModel();
}

void MembersModel::find_members(const analyzer::Operation& operation) {
  const Run& run = *session_.run();
  const auto started = [&](const Row& row) { return run.collectives()[*row.member].started; };
  for (const std::uint32_t row : operation.members) rows_.push_back({run.collectives()[row].rank, row});
  std::ranges::stable_sort(rows_, std::greater{}, started);
  first_start_ = started(rows_.back());
  if (!operation.group.is_set() || operation.members.size() >= run.groups()[operation.group.index()].members.size())
    return;
  const std::string_view op = run.text(operation.op);
  if (op == "send" || op == "recv") return;  // two of the group take part
  std::vector<RankId> present;
  for (const Row& row : rows_) present.push_back(row.rank);
  for (const RankId member : run.groups()[operation.group.index()].members)
    if (std::ranges::find(present, member) == present.end()) rows_.push_back({member, std::nullopt});
}

QString MembersModel::verdict_on(const analyzer::Operation& operation) const {
  if (operation.members.size() < 2) return tr("No other member of this operation was recorded.");
  if (!operation.why_no_wait.empty()) return tr("Waits are not known: %1.").arg(qt_text(operation.why_no_wait));
  if (looks_.look() == nullptr) return tr("Waits are being computed...");
  const auto wait = looks_.look()->wait_of(operation.members.front());
  if (!wait || operation.wait_ns == 0) return tr("No rank waited.");
  const auto collectives = session_.run()->collectives();
  const Collective& whom = collectives[wait->last_to_arrive];
  const auto waiting = std::ranges::count_if(operation.members, [&](std::uint32_t row) {
    const auto of_row = looks_.look()->wait_of(row);
    return of_row && of_row->wait_ns > 0;
  });
  const QString sum = time_text(nanoseconds{operation.wait_ns});
  const std::string who = counted(waiting, "rank");
  const bool is_fact = std::ranges::any_of(operation.members, [&](std::uint32_t row) {
    const auto of_row = looks_.look()->wait_of(row);
    return of_row && of_row->is_fact;
  });
  if (!is_fact)
    return tr("%1 waited %2 in total; the clocks are not accurate enough to show for which rank.")
        .arg(qt_text(who), sum);
  // The root of a broadcast is last_to_arrive also where others come after it.
  const bool was_last = whom.started == collectives[*rows_.front().member].started;
  const QString sentence = was_last ? tr("Rank %1 arrived last: %2 waited %3 in total.")
                                    : tr("The others waited for rank %1: %2 waited %3 in total.");
  return sentence.arg(whom.rank.value).arg(qt_text(who), sum);
}

QString MembersModel::text_of(const Row& row, Column column) const {
  if (column == rank) return qt_text(format("rank {}", row.rank.value));
  if (!row.member) return column == arrived ? tr("never, or not recorded") : QString{};
  const Collective& part = session_.run()->collectives()[*row.member];
  const auto wait = looks_.look() == nullptr ? std::nullopt : looks_.look()->wait_of(*row.member);
  switch (column) {
    case arrived:
      return part.started == first_start_ ? tr("first") : QLatin1Char{'+'} + time_text(part.started - first_start_);
    case waited:
      return wait ? time_text(nanoseconds{wait->wait_ns}) : QString{};
    case waited_for:
      if (!wait || wait->wait_ns == 0) return {};
      return wait->is_fact ? qt_text(format("rank {}", session_.run()->collectives()[wait->last_to_arrive].rank.value))
                           : tr("cannot tell");
    case length:
      return part.state == CommState::finished ? time_text(part.finished - part.started) : tr("not finished");
    case rank:
      break;
  }
  return {};
}

QVariant MembersModel::cell(std::size_t row, int column, int role) const {
  return role == Qt::DisplayRole ? text_of(rows_[row], static_cast<Column>(column)) : QVariant{};
}

void MembersModel::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  const auto member = rows_[static_cast<std::size_t>(row)].member;
  if (!member) return;
  if (const SpanId span = session_.run()->collectives()[*member].span; span.is_set()) session_.go_to(span);
}

QString MembersModel::as_text() const {
  if (verdict_.isEmpty()) return {};
  QString text = verdict_ + QLatin1Char{'\n'};
  for (const Row& row : rows_) {
    QStringList cells;
    for (int column = 0; column < columnCount(); ++column) cells.append(text_of(row, static_cast<Column>(column)));
    text += cells.join(QLatin1Char{'\t'}) + QLatin1Char{'\n'};
  }
  return text;
}

}  // namespace rankscope::gui
