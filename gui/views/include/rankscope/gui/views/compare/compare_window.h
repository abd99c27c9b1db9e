// Two runs below each other, and what changed between them.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QTableView>
#include <vector>

#include "rankscope/gui/models/compare/comparison_model.h"
#include "rankscope/gui/models/compare/step_link.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

class Banner;
class PanelSwitch;
class TimelineView;
class ViewKeeper;

/// Steps of one number stand below each other, on one zoom. The sessions outlive it.
class CompareWindow : public QMainWindow {
  Q_OBJECT

 public:
  CompareWindow(Session& a, Session& b, QWidget* parent = nullptr);

  [[nodiscard]] TimelineView& timeline_a() { return *timeline_a_; }
  [[nodiscard]] TimelineView& timeline_b() { return *timeline_b_; }
  [[nodiscard]] StepLink& link() { return link_; }
  [[nodiscard]] ComparisonModel& comparison() { return comparison_; }
  /// As if it was typed: "0,2,4-7"; for both runs.
  void choose_ranks(const QString& ranks) { ranks_->setText(ranks); }

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  TimelineView* add_run(const QString& label, Session& session, QWidget* parent);
  void make_table();
  void make_menus();
  void filter();
  void show_names();
  void ask_for_run(Session& session);
  void ask_for_picture();
  void keep_views();

  Session& a_;
  Session& b_;
  StepLink link_;
  ComparisonModel comparison_;
  PanelSwitch* panels_;
  TimelineView* timeline_a_ = nullptr;
  TimelineView* timeline_b_ = nullptr;
  Banner* banner_ = nullptr;
  QLabel* doubts_ = nullptr;  ///< what makes the verdict unsure, above it
  QLabel* verdict_ = nullptr;
  QTableView* table_ = nullptr;
  QLineEdit* search_ = nullptr;
  TimelineView* searched_ = nullptr;  ///< the one in which Return goes to the next match
  QLineEdit* ranks_ = nullptr;
  QLabel* wrong_ranks_ = nullptr;
  std::vector<ViewKeeper*> keepers_;  ///< of A and B
};

}  // namespace rankscope::gui
