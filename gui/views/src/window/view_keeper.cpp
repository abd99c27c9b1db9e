#include "window/view_keeper.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QStatusBar>
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/window/view_file.h"
#include "rankscope/gui/views/registry.h"
#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {
namespace {

constexpr std::array colour_names{"kind", "name", "lateness"};  // by Colouring

QString ranks_text(const std::vector<RankId>& ranks) {
  QStringList words;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1].value == ranks[last].value + 1) ++last;
    words.push_back(qt_text(first == last ? format("{}", ranks[first].value)
                                          : format("{}-{}", ranks[first].value, ranks[last].value)));
    first = last + 1;
  }
  return words.join(QLatin1Char{','});
}

}  // namespace

ViewKeeper::ViewKeeper(Session& session, KeptPlace place)
    : QObject(&place.window), session_(session), place_(std::move(place)) {
  connect(&session, &Session::stateChanged, this, [this] {
    if (session_.state() == LoadState::reading) keep();
  });
  connect(&session, &Session::runOpened, this, &ViewKeeper::take_opened);
  connect(&session, &Session::reportChanged, this, &ViewKeeper::take_report);
  connect(&session, &Session::visibleRangeChanged, this, [this] {
    if (session_.state() == LoadState::analyzing && session_.visible() != applied_) wanted_.reset();
  });
  connect(&place_.timeline, &TimelineView::viewSaveRequested, this, &ViewKeeper::save);
}

void ViewKeeper::take_opened() {
  wanted_.reset();
  const bool was_chosen = !chosen_.empty();
  file_ = was_chosen ? std::exchange(chosen_, {}) : view_file_of(session_.source());
  readable_ = true;
  there_ = false;
  read_.reset();
  if (file_.empty()) return;
  const auto state = read_view(file_, *session_.recorded());
  readable_ = state.has_value();
  if (!state) return place_.warn(QString::fromStdString(state.error().message));
  read_ = *state;
  there_ = state->has_value() || was_chosen;
  if (*state) return apply(**state);
  if (was_chosen)
    place_.window.statusBar()->showMessage(
        tr("This view will be saved in %1 when the window closes.").arg(qt_text(file_.string())));
}

void ViewKeeper::apply(ViewState state) {
  TimelineView& timeline = place_.timeline;
  if (!place_.choose_ranks) {
    state.ranks.clear();
    for (const RankId rank : session_.filter().ranks) state.ranks.push_back(rank.value);
  }
  restore(state, session_, timeline.navigator());
  if (place_.choose_ranks) place_.choose_ranks(ranks_text(session_.filter().ranks));
  const auto colour = std::ranges::find(colour_names, state.colour);
  timeline.set_colouring(static_cast<Colouring>(colour - colour_names.begin()));
  timeline.show_critical_path(state.critical_path);
  timeline.model().set_row_height(state.row_height);
  if (place_.choose_ranks)
    for (QDockWidget* const dock : place_.window.findChildren<QDockWidget*>())
      dock->setVisible(std::ranges::find(state.panels, dock->objectName().toStdString()) != state.panels.end());
  wanted_ = state.visible;
  applied_ = session_.visible();
}

/// Times are those of the aligned clocks, which are only known now.
void ViewKeeper::take_report() {
  if (session_.report() == nullptr || !wanted_) return;
  const TimeRange wanted = *std::exchange(wanted_, std::nullopt);
  if (!wanted.empty()) session_.set_visible(wanted);
}

ViewState ViewKeeper::state() const {
  TimelineView& timeline = place_.timeline;
  ViewState state = view_of(session_, timeline.navigator());
  state.colour = colour_names[static_cast<std::size_t>(timeline.colouring())];
  state.critical_path = timeline.shows_critical_path();
  state.row_height = timeline.model().row_height();
  if (place_.choose_ranks) {
    for (const QDockWidget* const dock : place_.window.findChildren<QDockWidget*>())
      if (dock->toggleViewAction()->isChecked()) state.panels.push_back(dock->objectName().toStdString());
  } else if (read_) {
    state.ranks = read_->ranks;
    state.panels = read_->panels;
  } else {
    state.ranks.clear();
    for (const PanelInfo& panel : panels()) state.panels.emplace_back(panel.id);
  }
  std::ranges::sort(state.panels);
  return state;
}

void ViewKeeper::keep() {
  if (session_.run() == nullptr || file_.empty() || !readable_) return;
  const ViewState now = state();
  if (!there_ && now.marks.empty() && now.pinned.empty()) return;
  if (const auto written = write_view(file_, now); !written)
    std::fprintf(stderr, "rankscope: the view was not saved: %s\n", written.error().message.c_str());
}

void ViewKeeper::save() {
  if (session_.run() == nullptr || file_.empty()) return;
  if (!readable_)
    return place_.warn(
        tr("%1 could not be used and is not overwritten; start the viewer with --session FILE to save this view "
           "elsewhere.")
            .arg(qt_text(file_.string())));
  if (const auto written = write_view(file_, state()); !written)
    return place_.warn(QString::fromStdString(written.error().message));
  there_ = true;
  place_.window.statusBar()->showMessage(tr("The view is saved in %1").arg(qt_text(file_.string())), 8000);
}

}  // namespace rankscope::gui
