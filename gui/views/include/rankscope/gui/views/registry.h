// The panels around the timeline.
#pragma once

#include <QWidget>
#include <QtCore/Qt>
#include <span>
#include <string_view>

namespace rankscope::gui {

class Session;

/// One panel: a dock of the main window and an entry of its menu View.
struct PanelInfo {
  std::string_view id;     ///< stable: the layout of docks is kept by it
  std::string_view title;  ///< also what screen readers say
  Qt::DockWidgetArea area = Qt::BottomDockWidgetArea;
  /// The session outlives the widget, whose owner is `parent`.
  QWidget* (*make)(Session& session, QWidget* parent) = nullptr;
  std::string_view beside = {};  ///< id of the panel behind which it begins as a tab; empty: it has a place of its own
};

/// All panels in the order of the menu.
[[nodiscard]] std::span<const PanelInfo> panels();

QWidget* make_findings_panel(Session& session, QWidget* parent);
QWidget* make_details_panel(Session& session, QWidget* parent);
QWidget* make_step_map_panel(Session& session, QWidget* parent);
QWidget* make_statistics_panel(Session& session, QWidget* parent);
QWidget* make_pivot_panel(Session& session, QWidget* parent);
QWidget* make_query_panel(Session& session, QWidget* parent);
QWidget* make_flame_panel(Session& session, QWidget* parent);
QWidget* make_memory_panel(Session& session, QWidget* parent);
QWidget* make_pipeline_panel(Session& session, QWidget* parent);
QWidget* make_search_panel(Session& session, QWidget* parent);
QWidget* make_events_panel(Session& session, QWidget* parent);
QWidget* make_efficiency_panel(Session& session, QWidget* parent);
QWidget* make_quality_panel(Session& session, QWidget* parent);
QWidget* make_what_if_panel(Session& session, QWidget* parent);

}  // namespace rankscope::gui
