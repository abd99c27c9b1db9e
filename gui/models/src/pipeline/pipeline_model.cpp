#include "rankscope/gui/models/pipeline/pipeline_model.h"

#include <algorithm>
#include <set>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

QString part_words(PipelinePart part) {
  switch (part) {
    case PipelinePart::forward:
      return PipelineModel::tr("forward");
    case PipelinePart::backward:
      return PipelineModel::tr("backward");
    case PipelinePart::backward_input:
      return PipelineModel::tr("backward, input gradient");
    case PipelinePart::backward_weight:
      return PipelineModel::tr("backward, weight gradient");
  }
  return {};
}

/// In which the middle of what is in sight lies, else the nearest one.
int step_near(const std::vector<analyzer::StepOfPipeline>& steps, RunTime middle) {
  const auto distance = [middle](const analyzer::StepOfPipeline& step) {
    return std::max({nanoseconds{0}, step.time.begin - middle, middle - step.time.end});
  };
  return static_cast<int>(std::ranges::min_element(steps, {}, distance) - steps.begin());
}

std::vector<TableColumn> pipeline_columns() {
  const auto number = [](const QString& title) { return TableColumn{.title = title, .align = Align::right}; };
  return {{PipelineModel::tr("Stage")},
          {PipelineModel::tr("Action")},
          number(PipelineModel::tr("Micro-batch")),
          number(PipelineModel::tr("Start")),
          number(PipelineModel::tr("Duration")),
          number(PipelineModel::tr("Idle before"))};
}

}  // namespace

PipelineModel::PipelineModel(Session& session, QObject* parent)
    : TableModel(pipeline_columns(), parent), session_(session) {
  connect(&session, &Session::runOpened, this, &PipelineModel::forget);
  connect(&session, &Session::reportChanged, this, &PipelineModel::ask);
  connect(&session, &Session::visibleRangeChanged, this, &PipelineModel::follow_range);
}

void PipelineModel::forget() {
  job_.cancel();
  beginResetModel();
  all_.reset();
  all_of_.reset();
  pipeline_ = step_ = -1;
  endResetModel();
  Q_EMIT pipelinesChanged();
  Q_EMIT stepsChanged();
  Q_EMIT shownChanged();
}

void PipelineModel::set_active(bool active) {
  active_ = active;
  if (active) ask();
}

const analyzer::PipelineSection* PipelineModel::section() const {
  const auto& report = session_.report();
  return report != nullptr && report->pipeline ? &*report->pipeline : nullptr;
}

void PipelineModel::ask() {
  if (section() == nullptr || section()->clocks_refused) return Q_EMIT shownChanged();
  if (!active_ || all_of_ == session_.run()) return;
  job_.start([this, run = session_.run(), report = session_.report()](const std::stop_token&) -> LatestJob::Delivery {
    auto all = std::make_shared<const analyzer::Section<All>>(analyzer::pipeline_actions(*run, report->steps));
    return [this, run, all] {
      all_of_ = run;
      take(all);
    };
  });
}

void PipelineModel::take(const std::shared_ptr<const analyzer::Section<All>>& all) {
  beginResetModel();
  all_ = all;
  pipeline_ = *all_ ? 0 : -1;
  step_ = -1;
  if (*all_ && section()->drawn)  // as the report: the pipeline that is farthest above theory, its median step
    for (std::size_t i = 0; i < (*all_)->size(); ++i)
      if ((**all_)[i].ranks == section()->drawn->ranks) pipeline_ = static_cast<int>(i);
  if (pipeline_ >= 0) {
    const auto& steps = chosen().steps;
    const std::int64_t wanted = section()->drawn ? section()->drawn->step : 0;
    const auto found = std::ranges::find(steps, wanted, &analyzer::StepOfPipeline::step);
    step_ = found == steps.end() ? 0 : static_cast<int>(found - steps.begin());
  }
  endResetModel();
  Q_EMIT pipelinesChanged();
  Q_EMIT stepsChanged();
  Q_EMIT shownChanged();
  follow_range();
}

const analyzer::StepOfPipeline* PipelineModel::shown() const {
  return step_ < 0 ? nullptr : &chosen().steps[static_cast<std::size_t>(step_)];
}

/// Where so much is in sight that it is no step in particular, the one that was shown stays.
void PipelineModel::follow_range() {
  if (shown() == nullptr) return;
  const TimeRange visible = session_.visible();
  const int near = step_near(chosen().steps, visible.begin + visible.length() / 2);
  if (visible.length() < 2 * shown()->time.length() && near != step_) return show_step(near);
  Q_EMIT shownChanged();
}

void PipelineModel::show_step(int step) {
  beginResetModel();
  step_ = step;
  endResetModel();
  Q_EMIT shownChanged();
}

void PipelineModel::set_step(int step) {
  if (shown() == nullptr || step < 0 || step >= std::ssize(chosen().steps)) return;
  show_step(step);
  const TimeRange time = shown()->time;
  const nanoseconds margin = time.length() / 20;
  session_.go_to({time.begin - margin, time.end + margin}, chosen().ranks.front());
}

void PipelineModel::set_pipeline(int pipeline) {
  if (all_ == nullptr || !*all_ || pipeline < 0 || pipeline >= std::ssize(**all_) || pipeline == pipeline_) return;
  const std::int64_t before = shown()->step;
  beginResetModel();
  pipeline_ = pipeline;
  const auto found = std::ranges::find(chosen().steps, before, &analyzer::StepOfPipeline::step);
  step_ = found == chosen().steps.end() ? 0 : static_cast<int>(found - chosen().steps.begin());
  endResetModel();
  Q_EMIT stepsChanged();
  Q_EMIT shownChanged();
}

QStringList PipelineModel::pipelines() const {
  QStringList names;
  if (all_ == nullptr || !*all_) return names;
  for (const analyzer::ActionsOfPipeline& one : **all_) {
    QStringList ranks;
    for (const RankId rank : one.ranks) ranks.append(QString::number(rank.value));
    constexpr qsizetype most = 8;
    if (ranks.size() > most) ranks = ranks.mid(0, most - 1) << QStringLiteral("...");
    names.append(tr("pipeline of ranks %1").arg(ranks.join(QStringLiteral(", "))));
  }
  return names;
}

QStringList PipelineModel::steps() const {
  QStringList names;
  if (shown() == nullptr) return names;
  for (const analyzer::StepOfPipeline& one : chosen().steps)
    names.append(tr("step %1: %2 idle").arg(QString::number(one.step), percent_text(one.bubble())));
  return names;
}

TimeRange PipelineModel::drawn_range() const {
  if (shown() == nullptr) return session_.visible();
  const TimeRange part = intersect(shown()->time, session_.visible());
  return part.empty() ? shown()->time : part;
}

int PipelineModel::place_count() const { return shown() == nullptr ? 0 : static_cast<int>(chosen().ranks.size()); }

QString PipelineModel::place_name(int place) const {
  std::set<std::int32_t> stages;
  for (const analyzer::PlacedAction& one : shown()->actions)
    if (one.place == place) stages.insert(one.stage < 0 ? place : one.stage);
  QStringList numbers;
  for (const std::int32_t number : stages) numbers.append(QString::number(number));
  const QString word = numbers.size() == 1 ? tr("stage") : tr("stages");
  return tr("%1 %2, rank %3")
      .arg(word, numbers.join(QStringLiteral(", ")))
      .arg(chosen().ranks[static_cast<std::size_t>(place)].value);
}

QString PipelineModel::action_name(int row) const {
  const PipelineAction& one = action_at(row).action;
  const bool several = section() != nullptr && section()->shape.chunks > 1;
  return qt_text(several ? format("{}{}.{}", letter_of(one.part), one.micro_batch, one.chunk)
                         : format("{}{}", letter_of(one.part), one.micro_batch));
}

nanoseconds PipelineModel::idle_before(int row) const {
  const analyzer::PlacedAction& one = action_at(row);
  RunTime free = shown()->time.begin;
  for (int before = row - 1; before >= 0 && action_at(before).place == one.place; --before)
    free = std::max(free, action_at(before).time.end);
  return std::max(nanoseconds{0}, one.time.begin - free);
}

QString PipelineModel::sentence(int row) const {
  const analyzer::PlacedAction& one = action_at(row);
  return tr("%1, %2: %3 of micro-batch %4\n%5, starting %6 into the step, after being idle for %7")
      .arg(action_name(row), place_name(one.place), part_words(one.action.part),
           QString::number(one.action.micro_batch), time_text(one.time.length()),
           time_text(one.time.begin - shown()->time.begin), time_text(idle_before(row)));
}

QString PipelineModel::idle_sentence(int place, TimeRange time) const {
  return tr("%1 is idle for %2, starting %3 into the step")
      .arg(place_name(place), time_text(time.length()), time_text(time.begin - shown()->time.begin));
}

QString PipelineModel::caption() const {
  if (shown() == nullptr || section() == nullptr) return {};
  const analyzer::PipelineSection& all = *section();
  const QString name = all.schedule ? qt_text(name_of(*all.schedule)) : tr("unknown schedule");
  const auto share = [](const analyzer::Ratio& ratio) {
    return ratio.value ? percent_text(*ratio.value) : tr("not known (%1)").arg(qt_text(ratio.why));
  };
  const QString batches =
      all.shape.micro_batches == 1 ? tr("1 micro-batch") : tr("%1 micro-batches").arg(all.shape.micro_batches);
  return tr("%1, %2, %3. Idle in this step: %4; in all steps: %5; required by the schedule: %6.")
      .arg(name, qt_text(counted(all.shape.ranks, "rank")), batches, percent_text(shown()->bubble()),
           share(all.bubble_measured), share(all.bubble_theory));
}

QString PipelineModel::why_empty() const {
  if (shown() != nullptr) return {};
  const auto& report = session_.report();
  if (report == nullptr)
    return session_.run() == nullptr ? tr("Open a recording to see the schedule of its pipeline.") : tr("Analyzing...");
  if (section() == nullptr) return tr("There is no schedule to show.\n%1").arg(qt_text(report->pipeline.error().why));
  if (section()->clocks_refused) return tr("The schedule cannot be drawn: %1.").arg(qt_text(section()->why_not_drawn));
  if (all_ == nullptr) return tr("Reading...");
  return *all_ ? QString{} : qt_text(all_->error().why);
}

std::optional<SpanId> PipelineModel::span_of(const analyzer::PlacedAction& one) const {
  const Run& run = *session_.run();
  const auto begin_of = [](const Span& span) { return span.time.begin; };
  for (const Lane& lane : run.lanes()) {
    const bool may_hold = lane.kind == LaneKind::thread || lane.kind == LaneKind::annotation;
    if (lane.rank != chosen().ranks[static_cast<std::size_t>(one.place)] || !may_hold) continue;
    const auto same = std::ranges::equal_range(run.spans_of(lane), one.time.begin, {}, begin_of);
    for (const Span& span : same)
      if (span.time.end <= one.time.end && span.kind != SpanKind::step) return run.id_of(span);
  }
  return std::nullopt;
}

int PipelineModel::selected_row() const {
  if (!session_.selection() || shown() == nullptr) return -1;
  const Run& run = *session_.run();
  const Span& span = run.span(*session_.selection());
  const RankId rank = run.lane(span.lane).rank;
  for (int row = 0; row < rowCount(); ++row) {
    const analyzer::PlacedAction& one = action_at(row);
    const bool inside = one.time.begin <= span.time.begin && span.time.end <= one.time.end;
    if (inside && chosen().ranks[static_cast<std::size_t>(one.place)] == rank) return row;
  }
  return -1;
}

void PipelineModel::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  const analyzer::PlacedAction one = action_at(row);  // going there may show another step
  const auto span = span_of(one);
  if (span) return session_.go_to(*span);
  session_.go_to(one.time, chosen().ranks[static_cast<std::size_t>(one.place)]);
}

QString PipelineModel::text_of(int row, Column column) const {
  const analyzer::PlacedAction& one = action_at(row);
  switch (column) {
    case stage:
      return place_name(one.place);
    case action:
      return tr("%1 (%2)").arg(action_name(row), part_words(one.action.part));
    case micro_batch:
      return QString::number(one.action.micro_batch);
    case start:
      return time_text(one.time.begin - shown()->time.begin);
    case length:
      return time_text(one.time.length());
    case idle:
      return time_text(idle_before(row));
  }
  return {};
}

QVariant PipelineModel::cell(std::size_t row, int column, int role) const {
  if (role == Qt::ToolTipRole) return sentence(static_cast<int>(row));
  return role == Qt::DisplayRole ? text_of(static_cast<int>(row), static_cast<Column>(column)) : QVariant{};
}

}  // namespace rankscope::gui
