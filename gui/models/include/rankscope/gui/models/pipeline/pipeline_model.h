// The schedule of a pipeline as it ran: which stage worked on which micro-batch when, and when it stood still.
#pragma once

#include <QStringList>
#include <memory>
#include <optional>
#include <vector>

#include "rankscope/analyzer/pipeline/actions.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::analyzer {
struct PipelineSection;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// A row per action of one step of one pipeline, stage by stage in the order in which they ran. The step follows what
/// is in sight.
class PipelineModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { stage, action, micro_batch, start, length, idle };
  explicit PipelineModel(Session& session, QObject* parent = nullptr);

  /// Nothing is read for what nobody sees; it begins as passive.
  void set_active(bool active);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "pipeline 0: ranks 0, 2", ...: side by side.
  [[nodiscard]] QStringList pipelines() const;
  [[nodiscard]] int pipeline() const { return pipeline_; }
  void set_pipeline(int pipeline);
  /// "step 3: 31.2 % idle", ...: the counted ones.
  [[nodiscard]] QStringList steps() const;
  [[nodiscard]] int step() const { return step_; }
  /// Chosen by the user: the session shows it, too.
  void set_step(int step);

  /// Null: there is none.
  [[nodiscard]] const analyzer::StepOfPipeline* shown() const;
  /// The part of it that is drawn: all of it, or what of it the timeline shows if that is less.
  [[nodiscard]] TimeRange drawn_range() const;
  [[nodiscard]] int place_count() const;
  /// "stage 0, rank 3"
  [[nodiscard]] QString place_name(int place) const;
  /// "F3"; with several chunks per rank "F3.1"
  [[nodiscard]] QString action_name(int row) const;
  [[nodiscard]] QString sentence(int row) const;
  /// Of a stretch in which a place stood still.
  [[nodiscard]] QString idle_sentence(int place, TimeRange time) const;
  /// Idle shares of the step and of the run, beside the one that the schedule must have.
  [[nodiscard]] QString caption() const;
  /// What to say in place of the schedule; empty where there is one.
  [[nodiscard]] QString why_empty() const;

  /// The row that the selected event is; -1: none.
  [[nodiscard]] int selected_row() const;
  /// The action is selected and brought into view.
  void go_to(int row);

 Q_SIGNALS:
  void pipelinesChanged();
  void stepsChanged();  ///< what steps() lists
  void shownChanged();

 private:
  [[nodiscard]] std::size_t row_count() const override { return shown() == nullptr ? 0 : shown()->actions.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  using All = std::vector<analyzer::ActionsOfPipeline>;
  void forget();
  void ask();
  void take(const std::shared_ptr<const analyzer::Section<All>>& all);
  void follow_range();
  void show_step(int step);
  [[nodiscard]] const analyzer::PipelineSection* section() const;
  [[nodiscard]] const analyzer::ActionsOfPipeline& chosen() const {
    return (**all_)[static_cast<std::size_t>(pipeline_)];
  }
  [[nodiscard]] const analyzer::PlacedAction& action_at(int row) const {
    return shown()->actions[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] nanoseconds idle_before(int row) const;
  [[nodiscard]] std::optional<SpanId> span_of(const analyzer::PlacedAction& one) const;
  [[nodiscard]] QString text_of(int row, Column column) const;

  Session& session_;
  bool active_ = false;
  std::shared_ptr<const analyzer::Section<All>> all_;
  std::shared_ptr<const Run> all_of_;
  int pipeline_ = -1;
  int step_ = -1;
  LatestJob job_;
};

}  // namespace rankscope::gui
