#include "timeline/commands.h"

#include <QAction>
#include <QDialog>
#include <QHeaderView>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

constexpr double zoom_step = 0.7;
constexpr double pan_step = 0.15;
constexpr double rows_step = 60;
constexpr double taller = 2;

using View = TimelineView;
constexpr auto back = Direction::back;
constexpr auto forward = Direction::forward;

constexpr std::array all_commands{
    Command{"zoom_in", "Zoom in at the mouse", "W", [](View& v) { v.zoom(zoom_step); }},
    Command{"zoom_out", "Zoom out at the mouse", "S", [](View& v) { v.zoom(1 / zoom_step); }},
    Command{"earlier", "Move to earlier times", "A Left", [](View& v) { v.pan(-pan_step); }},
    Command{"later", "Move to later times", "D Right", [](View& v) { v.pan(pan_step); }},
    Command{"up", "Scroll rows up", "Up", [](View& v) { v.scroll(-rows_step); }},
    Command{"down", "Scroll rows down", "Down", [](View& v) { v.scroll(rows_step); }},
    Command{"page_up", "Scroll a page up", "PgUp", [](View& v) { v.scroll(-v.height() * 0.8); }},
    Command{"page_down", "Scroll a page down", "PgDown", [](View& v) { v.scroll(v.height() * 0.8); }},
    Command{"focus", "Centre the selection; press again to show all of it", "F",
            [](View& v) { v.navigator().focus_selection(); }},
    Command{"zoom_selection", "Zoom to the selection", "R", [](View& v) { v.navigator().zoom_to_selection(); }},
    Command{"fit", "Show the whole run", "0 Home", [](View& v) { v.navigator().fit_all(); }},
    Command{"back", "Back to the previous range", "Backspace Alt+Left", [](View& v) { v.navigator().back(); }},
    Command{"forward", "Forward to the next range", "Alt+Right", [](View& v) { v.navigator().forward(); }},
    Command{"next", "Next event in the row", ".", [](View& v) { v.navigator().next_event(forward); }},
    Command{"previous", "Previous event in the row", ",", [](View& v) { v.navigator().next_event(back); }},
    Command{"next_same", "Next event with the same name", "Ctrl+.",
            [](View& v) { v.navigator().next_same_name(forward); }},
    Command{"previous_same", "Previous event with the same name", "Ctrl+,",
            [](View& v) { v.navigator().next_same_name(back); }},
    Command{"next_rank", "Same event on the next rank", "Alt+Down", [](View& v) { v.navigator().next_rank(forward); }},
    Command{"previous_rank", "Same event on the previous rank", "Alt+Up",
            [](View& v) { v.navigator().next_rank(back); }},
    Command{"next_collective", "Next communication of the rank", "C",
            [](View& v) { v.navigator().next_collective(forward); }},
    Command{"previous_collective", "Previous communication of the rank", "Shift+C",
            [](View& v) { v.navigator().next_collective(back); }},
    Command{"next_step", "Next step", "N", [](View& v) { v.navigator().next_step(forward); }},
    Command{"previous_step", "Previous step", "Shift+N", [](View& v) { v.navigator().next_step(back); }},
    Command{"next_finding", "Next finding", "G", [](View& v) { v.navigator().next_finding(forward); }},
    Command{"previous_finding", "Previous finding", "Shift+G", [](View& v) { v.navigator().next_finding(back); }},
    Command{"follow", "Follow the arrow forward", "] Ctrl+Right", [](View& v) { v.navigator().follow_flow(forward); }},
    Command{"follow_back", "Follow the arrow back", "[ Ctrl+Left", [](View& v) { v.navigator().follow_flow(back); }},
    Command{"search", "Search names", "/ Ctrl+F", [](View& v) { Q_EMIT v.searchRequested(); }},
    Command{"next_match", "Next match of the search", "Return", [](View& v) { v.navigator().next_match(forward); }},
    Command{"previous_match", "Previous match of the search", "Shift+Return",
            [](View& v) { v.navigator().next_match(back); }},
    Command{"find_ranks", "Choose ranks", "Ctrl+P", [](View& v) { Q_EMIT v.trackSearchRequested(); }},
    Command{"mark", "Mark the selection temporarily", "M", [](View& v) { v.navigator().mark_selection(false); }},
    Command{"keep_mark", "Mark the selection and keep it", "Shift+M",
            [](View& v) { v.navigator().mark_selection(true); }},
    Command{"remove_mark", "Remove the last mark", "Del", [](View& v) { v.navigator().remove_mark(); }},
    Command{"note", "Write a note on the selection, or on the last mark", "Ctrl+M",
            [](View& v) { Q_EMIT v.noteRequested(); }},
    Command{"next_mark", "Next mark", "Alt+M", [](View& v) { v.navigator().next_mark(forward); }},
    Command{"previous_mark", "Previous mark", "Alt+Shift+M", [](View& v) { v.navigator().next_mark(back); }},
    Command{"select_step", "Select the step of the selected event, or the step in the middle", "E",
            [](View& v) { v.navigator().select_step(); }},
    Command{"select_all", "Select all", "Ctrl+A", [](View& v) { v.navigator().select_all(); }},
    Command{"copy", "Copy the event, or a summary of the selected time, as text", "Ctrl+C",
            [](View& v) { v.copy_text(); }},
    Command{"save_view", "Save session", "Ctrl+S", [](View& v) { Q_EMIT v.viewSaveRequested(); }},
    Command{"picture", "Save a picture (PNG or SVG)", "Ctrl+Shift+S", [](View& v) { Q_EMIT v.pictureRequested(); }},
    Command{"export", "Export the selection or the visible range (Perfetto, Chrome)", "Ctrl+E",
            [](View& v) { Q_EMIT v.exportRequested(); }},
    Command{"record", "Record a run", "Ctrl+R", [](View& v) { Q_EMIT v.recordRequested(); }},
    Command{"clear", "Clear the selection", "Esc", [](View& v) { v.navigator().clear(); }},
    Command{"pin", "Pin or unpin all lanes that have the selected lane's name", "Shift+T",
            [](View& v) { v.pin_by_name(); }},
    Command{"critical_path", "Critical path on or off", "P",
            [](View& v) {
              const auto rank = v.shows_critical_path() ? std::nullopt : v.navigator().show_critical_path();
              v.show_critical_path(rank.has_value());
              if (rank) v.reveal(*rank);
            }},
    Command{"colour", "Switch colours: by kind, by name or by lateness", "K",
            [](View& v) { v.set_colouring(static_cast<Colouring>((static_cast<int>(v.colouring()) + 1) % 3)); }},
    Command{"next_header", "Next host or rank", "Ctrl+Down", [](View& v) { v.next_header(forward); }},
    Command{"previous_header", "Previous host or rank", "Ctrl+Up", [](View& v) { v.next_header(back); }},
    Command{"fold_one", "Fold or unfold the host or rank", "Space X", [](View& v) { v.toggle_fold(); }},
    Command{"fold", "Fold all ranks", "Shift+F", [](View& v) { v.model().fold_all(true); }},
    Command{"unfold", "Unfold all ranks", "Ctrl+Shift+F", [](View& v) { v.model().fold_all(false); }},
    Command{"taller", "Taller rows", "+ =", [](View& v) { v.model().set_row_height(v.model().row_height() + taller); }},
    Command{"lower", "Shorter rows", "-", [](View& v) { v.model().set_row_height(v.model().row_height() - taller); }},
    Command{"pivot", "Pivot: events by name, rank and step", "I",
            [](View& v) { Q_EMIT v.panelRequested(QStringLiteral("pivot")); }},
    Command{"operators", "Operators in the selection or the visible range", "O",
            [](View& v) { Q_EMIT v.panelRequested(QStringLiteral("flame")); }},
    Command{"memory", "Memory in the visible range", "Y",
            [](View& v) { Q_EMIT v.panelRequested(QStringLiteral("memory")); }},
    Command{"pipeline", "Schedule of the pipeline", "L",
            [](View& v) { Q_EMIT v.panelRequested(QStringLiteral("pipeline")); }},
    Command{"panels", "Panels on or off", "Q Ctrl+B", [](View& v) { Q_EMIT v.panelsToggled(); }},
    Command{"palette", "All commands by name", "Ctrl+Shift+P", [](View& v) { Q_EMIT v.paletteRequested(); }},
    Command{"help", "Keys and mouse", "? F1", [](View& v) { Q_EMIT v.helpRequested(); }},
};

/// What the mouse does.
struct Gesture {
  std::string_view gesture;
  std::string_view title;
};

constexpr std::array mouse{
    Gesture{"click", "select an event"},
    Gesture{"double click", "zoom to an event"},
    Gesture{"click in the row of steps", "select the step as a time range"},
    Gesture{"double click in the row of steps", "zoom to the step"},
    Gesture{"drag", "select a time range on some lanes and read its duration; its ends snap to events and steps"},
    Gesture{"Ctrl+drag", "the same without snapping"},
    Gesture{"drag the end of a selected range", "move this end"},
    Gesture{"drag in the ruler", "select a time range on all visible lanes"},
    Gesture{"Shift+drag", "pan in time and across rows"},
    Gesture{"wheel", "scroll rows"},
    Gesture{"Ctrl+wheel", "zoom; the time under the mouse stays in place"},
    Gesture{"Shift+wheel", "move in time"},
    Gesture{"Ctrl+Shift+wheel", "make rows taller or shorter"},
    Gesture{"click or drag in the minimap", "move there"},
    Gesture{"click on a host or rank", "fold or unfold it"},
    Gesture{"click on the name of a lane with several rows", "show one row, or all rows"},
    Gesture{"click on the circle of a lane or counter", "pin it to the top, or unpin it"},
    Gesture{"right click", "show the actions for the item under the mouse"},
};

}  // namespace

QString bound_keys(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts()) keys.push_back(key.toString(QKeySequence::NativeText));
  return keys.join(QStringLiteral("   "));
}

std::span<const Command> commands() { return all_commands; }

std::string keys_as_markdown() {
  std::string text = "| keys | action |\n|---|---|\n";
  for (const Command& command : all_commands) {
    std::string keys;
    std::string_view rest = command.keys;
    while (!rest.empty()) {
      const std::string_view key = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(key.size() + 1, rest.size()));
      keys += format("{}`{}`", keys.empty() ? "" : ", ", key);
    }
    text += format("| {} | {} |\n", keys, command.title);
  }
  text += "\n| mouse | action |\n|---|---|\n";
  for (const Gesture& gesture : mouse) text += format("| {} | {} |\n", gesture.gesture, gesture.title);
  return text;
}

void show_keys(TimelineView& view) {
  auto* const dialog = new QDialog(view.window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("keys"));
  dialog->setWindowTitle(QObject::tr("Keys and mouse"));
  auto* const table = new QTableWidget(static_cast<int>(all_commands.size() + mouse.size()), 2, dialog);
  table->setAccessibleName(QObject::tr("Keys and mouse"));
  table->setHorizontalHeaderLabels({QObject::tr("Key or mouse"), QObject::tr("What it does")});
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->verticalHeader()->hide();
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setStretchLastSection(true);
  int row = 0;
  const auto add = [&](const QString& keys, const QString& title) {
    table->setItem(row, 0, new QTableWidgetItem(keys));
    table->setItem(row++, 1, new QTableWidgetItem(title));
  };
  for (const Command& command : all_commands)
    if (const auto* const action = view.findChild<QAction*>(qt_text(command.id)); action && action->isVisible())
      add(bound_keys(*action), qt_text(command.title));
  for (const Gesture& gesture : mouse) add(qt_text(gesture.gesture), qt_text(gesture.title));
  table->setRowCount(row);  // without commands that this window does not have
  auto* const layout = new QVBoxLayout(dialog);
  layout->addWidget(table);
  dialog->resize(560, 640);
  dialog->show();
}

}  // namespace rankscope::gui
