// Every key of the table of commands is pressed in the whole window, and does what the table says.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QScrollBar>
#include <QStatusBar>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "gui/waiting.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

/// All that a key may change.
struct Seen {
  TimeRange visible;
  std::optional<SpanId> selection;
  std::optional<Area> area;
  std::optional<std::size_t> finding;
  int scrolled = 0;
  std::size_t tracks = 0;
  std::size_t pinned = 0;
  double row_height = 0;
  std::vector<TimeMark> marks;
  Colouring colouring = Colouring::by_kind;
  bool critical_path = false;
  bool docks = false;
  QString dialog{};  ///< its object name, or "files"
  QString focus{};   ///< object name of the panel or field that has the keyboard
  QString copied;
  bool kept = false;  ///< the file of the view is there
};

/// The demo in a window; its slow rank 2 is the first finding.
class EveryKey : public ::testing::Test {
 protected:
  EveryKey() {
    std::filesystem::copy(RANKSCOPE_SAMPLES "/demo.rankscope", recording_, std::filesystem::copy_options::recursive);
    window_.resize(1280, 560);
    window_.show();
    session_.open({.paths = {recording_}});
    EXPECT_TRUE(testing::becomes_ready(session_));
    EXPECT_TRUE(testing::comes_true([this] { return timeline_.is_up_to_date() && timeline_.model().facts(); }));
    EXPECT_TRUE(testing::comes_true([this] { return timeline_.model().facts()->waits_known; }));
  }

  [[nodiscard]] Seen see() const {
    Seen seen{.visible = session_.visible(),
              .selection = session_.selection(),
              .area = session_.area(),
              .finding = session_.finding(),
              .scrolled = timeline_.findChild<QScrollBar*>()->value(),
              .tracks = timeline_.model().tracks().tracks.size(),
              .row_height = timeline_.model().row_height(),
              .marks = timeline_.navigator().marks(),
              .colouring = timeline_.colouring(),
              .critical_path = timeline_.shows_critical_path(),
              .copied = QApplication::clipboard()->text(),
              .kept = std::filesystem::exists(kept_)};
    seen.pinned = static_cast<std::size_t>(std::ranges::count_if(timeline_.model().tracks().tracks, &Track::pinned));
    seen.docks = window_.findChild<QDockWidget*>(QStringLiteral("findings"))->isVisible();
    for (const QDialog* const dialog : window_.findChildren<QDialog*>())
      if (dialog->isVisible())
        seen.dialog =
            qobject_cast<const QFileDialog*>(dialog) != nullptr ? QStringLiteral("files") : dialog->objectName();
    const QWidget* focus = window_.focusWidget();
    while (focus != nullptr && focus->objectName() != QStringLiteral("search") &&
           focus->objectName() != QStringLiteral("ranks") && qobject_cast<const QDockWidget*>(focus) == nullptr)
      focus = focus->parentWidget();
    if (focus != nullptr) seen.focus = focus->objectName();
    return seen;
  }

  /// Half of the run, from its first quarter on; nothing selected, marked, pinned or folded.
  void begin_anew() {
    for (QDialog* const dialog : window_.findChildren<QDialog*>()) dialog->close();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    window_.activateWindow();
    timeline_.setFocus();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    if (see().pinned != 0) timeline_.pin_by_name();
    session_.set_filter({});
    timeline_.model().fold_all(false);
    timeline_.model().set_row_height(24);
    timeline_.show_critical_path(false);
    timeline_.set_colouring(Colouring::by_kind);
    timeline_.navigator().set_marks({});
    session_.select(std::nullopt);
    session_.select_area(std::nullopt);
    session_.set_visible(part(0.25, 0.75));
    timeline_.scroll(-1e6);
    QApplication::clipboard()->clear();
    QCoreApplication::processEvents();
    timeline_.scroll(120);
    window_.statusBar()->clearMessage();
    std::filesystem::remove(kept_);
  }

  [[nodiscard]] TimeRange part(double begin, double end) const {
    const TimeRange all = session_.extent();
    const auto at_part = [&all](double part) {
      return all.begin + nanoseconds{static_cast<std::int64_t>(part * static_cast<double>(all.length().count()))};
    };
    return {at_part(begin), at_part(end)};
  }
  /// In the middle of the run.
  [[nodiscard]] SpanId some(std::string_view name, RankId rank) const {
    const rankscope::Run& run = *session_.run();
    for (const Span& span : run.spans())
      if (run.lane(span.lane).rank == rank && run.text(span.name) == name && span.time.begin > part(0.4, 1).begin)
        return run.id_of(span);
    ADD_FAILURE() << "no " << name;
    return {};
  }
  void select(std::string_view name, RankId rank = RankId{1}) { session_.select(some(name, rank)); }
  [[nodiscard]] const Span& span(const std::optional<SpanId>& id) const { return session_.run()->span(id.value()); }
  [[nodiscard]] RankId rank_of(const std::optional<SpanId>& id) const {
    return session_.run()->lane(span(id).lane).rank;
  }
  [[nodiscard]] std::string_view name_of(const std::optional<SpanId>& id) const {
    return session_.run()->text(span(id).name);
  }

  struct Case {
    std::function<void()> prepare;
    std::function<bool(const Seen& before, const Seen& after)> does;
  };
  [[nodiscard]] std::map<std::string_view, Case> cases();
  void add_moves(std::map<std::string_view, Case>& all);
  void add_walks(std::map<std::string_view, Case>& all);
  void add_jumps(std::map<std::string_view, Case>& all);
  void add_marks(std::map<std::string_view, Case>& all);
  void add_looks(std::map<std::string_view, Case>& all);
  void add_asks(std::map<std::string_view, Case>& all);

  const testing::TemporaryFolder folder_;
  const std::filesystem::path recording_ = folder_ / "run.rankscope";
  const std::filesystem::path kept_ = folder_ / "run.rankscope-view";
  Session session_;
  MainWindow window_{session_};
  TimelineView& timeline_ = window_.timeline();
};

void EveryKey::add_moves(std::map<std::string_view, Case>& all) {
  const auto nothing = [] {};
  const auto same_length = [](const Seen& a, const Seen& b) { return a.visible.length() == b.visible.length(); };
  const auto step = [this] { select("forward"); };
  const auto length = [](const Seen& seen) { return seen.visible.length(); };
  all["zoom_in"] = {nothing, [=](auto& a, auto& b) { return length(b) < length(a); }};
  all["zoom_out"] = {nothing, [=](auto& a, auto& b) { return length(b) > length(a); }};
  all["earlier"] = {nothing, [=](auto& a, auto& b) { return b.visible.begin < a.visible.begin && same_length(a, b); }};
  all["later"] = {nothing, [=](auto& a, auto& b) { return b.visible.begin > a.visible.begin && same_length(a, b); }};
  all["up"] = all["page_up"] = {nothing, [](auto& a, auto& b) { return b.scrolled < a.scrolled; }};
  all["down"] = all["page_down"] = {nothing, [](auto& a, auto& b) { return b.scrolled > a.scrolled; }};
  all["focus"] = {step, [=, this](auto& a, auto& b) {
                    const RunTime middle = b.visible.begin + b.visible.length() / 2;
                    return same_length(a, b) && span(b.selection).time.contains(middle);
                  }};
  all["zoom_selection"] = {step, [=, this](auto&, auto& b) { return length(b) < 2 * span(b.selection).time.length(); }};
  all["fit"] = {nothing, [this](auto&, auto& b) { return b.visible == session_.extent(); }};
  all["back"] = {[this] { timeline_.navigator().fit_all(); }, [=](auto& a, auto& b) { return length(b) < length(a); }};
  all["forward"] = {[this] {
                      timeline_.navigator().fit_all();
                      timeline_.navigator().back();
                    },
                    [this](auto&, auto& b) { return b.visible == session_.extent(); }};
}

bool later(const TimeRange& a, const TimeRange& b) { return b.begin > a.begin; }

void EveryKey::add_walks(std::map<std::string_view, Case>& all) {
  const auto to_event = [=, this](bool forward, bool same_name) {
    return [=, this](const Seen& a, const Seen& b) {
      const Span& from = span(a.selection);
      const Span& to = span(b.selection);
      return (forward ? later(from.time, to.time) : later(to.time, from.time)) && from.lane == to.lane &&
             (!same_name || from.name == to.name);
    };
  };
  const auto op = [this] { select("forward"); };
  all["next"] = {op, to_event(true, false)};
  all["previous"] = {op, to_event(false, false)};
  all["next_same"] = {op, to_event(true, true)};
  all["previous_same"] = {op, to_event(false, true)};
  const auto to_rank = [this](std::uint32_t rank) {
    return [this, rank](const Seen& a, const Seen& b) {
      return rank_of(b.selection) == RankId{rank} && name_of(a.selection) == name_of(b.selection);
    };
  };
  all["next_rank"] = {op, to_rank(2)};
  all["previous_rank"] = {op, to_rank(0)};
  const auto to_comm = [=, this](bool forward) {
    return [=, this](const Seen& a, const Seen& b) {
      const TimeRange from = span(a.selection).time;
      const Span& to = span(b.selection);
      return to.kind == SpanKind::comm && (forward ? later(from, to.time) : later(to.time, from));
    };
  };
  all["next_collective"] = {op, to_comm(true)};
  all["previous_collective"] = {op, to_comm(false)};
}

void EveryKey::add_jumps(std::map<std::string_view, Case>& all) {
  const auto one_step = [this] { session_.set_visible(session_.report()->steps->steps[6].time); };
  all["next_step"] = {one_step, [=](auto& a, auto& b) { return later(a.visible, b.visible); }};
  all["previous_step"] = {one_step, [=](auto& a, auto& b) { return later(b.visible, a.visible); }};
  const auto no_finding = [this] { session_.clear_finding(); };
  const std::size_t last = session_.report()->findings->size() - 1;
  all["next_finding"] = {no_finding, [](auto& a, auto& b) { return !a.finding && b.finding == 0U; }};
  all["previous_finding"] = {no_finding, [=](auto& a, auto& b) { return !a.finding && b.finding == last; }};
  const auto communication = [this] {
    select("forward");
    timeline_.navigator().next_collective(Direction::forward);
  };
  const auto along = [this](Direction way_back) {
    return [this, way_back](const Seen& a, const Seen& b) {
      const bool moved = a.selection != b.selection && name_of(a.selection) == name_of(b.selection);
      timeline_.navigator().follow_flow(way_back);
      return moved && session_.selection() == a.selection;
    };
  };
  all["follow"] = {communication, along(Direction::back)};
  all["follow_back"] = {communication, along(Direction::forward)};
  const auto searched = [this] { session_.set_filter({.text = "backward"}); };
  const auto to_match = [this](bool forward) {
    return [this, forward](const Seen& a, const Seen& b) {
      const nanoseconds after = span(b.selection).time.begin - a.visible.begin;
      const nanoseconds length = a.visible.length();
      return qt_text(name_of(b.selection)).contains(QStringLiteral("backward"), Qt::CaseInsensitive) &&
             after >= nanoseconds{0} && (forward ? after < length / 4 : after < length && after > length / 4 * 3);
    };
  };
  all["next_match"] = {searched, to_match(true)};
  all["previous_match"] = {searched, to_match(false)};
}

void EveryKey::add_marks(std::map<std::string_view, Case>& all) {
  const auto event = [this] { select("forward"); };
  const auto two = [this] {
    timeline_.navigator().set_marks({{part(0.3, 0.31), true}, {part(0.7, 0.71), true}});
    session_.set_visible(part(0.4, 0.6));
  };
  const auto is_at = [this](double where) {
    return [this, where](const Seen&, const Seen& b) { return b.visible.contains(part(where, 1).begin); };
  };
  all["mark"] = {event, [](auto&, auto& b) { return b.marks.size() == 1 && !b.marks[0].kept; }};
  all["keep_mark"] = {event, [](auto&, auto& b) { return b.marks.size() == 1 && b.marks[0].kept; }};
  all["remove_mark"] = {two, [](auto&, auto& b) { return b.marks.size() == 1; }};
  all["next_mark"] = {two, is_at(0.7)};
  all["previous_mark"] = {two, is_at(0.3)};
  all["select_step"] = {event, [this](auto&, auto& b) {
                          return b.area && b.area->time.contains(span(b.selection).time.begin) &&
                                 b.area->time.length() < session_.extent().length() / 4;
                        }};
  all["select_all"] = {event, [](auto&, auto& b) { return b.area && b.area->lanes.size() > 4; }};
  all["clear"] = {event, [](auto&, auto& b) { return !b.selection && !b.area; }};
  all["copy"] = {event, [](auto&, auto& b) { return b.copied.startsWith(QStringLiteral("forward\trank 1\t")); }};
  all["pin"] = {event, [](auto&, auto& b) { return b.pinned == 4; }};
}

void EveryKey::add_looks(std::map<std::string_view, Case>& all) {
  const auto nothing = [] {};
  const auto rank = [this] {
    select("forward");
    timeline_.next_header(Direction::back);
    timeline_.next_header(Direction::forward);
  };
  all["critical_path"] = {nothing, [](auto& a, auto& b) { return !a.critical_path && b.critical_path; }};
  all["colour"] = {nothing, [](auto& a, auto& b) { return a.colouring != b.colouring; }};
  const auto goes = [this](const char* said) {
    return [this, said](const Seen&, const Seen&) {
      timeline_.toggle_fold();
      return timeline_.model().tracks().of_rank(RankId{said[0] == '0' ? 0U : 2U})->folded;
    };
  };
  all["next_header"] = {[this] { select("forward"); }, goes("2")};
  all["previous_header"] = {[this] { select("forward"); }, goes("0")};
  all["fold_one"] = {rank, [](auto& a, auto& b) { return b.tracks < a.tracks; }};
  all["fold"] = {nothing, [](auto& a, auto& b) { return b.tracks < a.tracks; }};
  all["unfold"] = {[this] { timeline_.model().fold_all(true); }, [](auto& a, auto& b) { return b.tracks > a.tracks; }};
  all["taller"] = {nothing, [](auto& a, auto& b) { return b.row_height > a.row_height; }};
  all["lower"] = {nothing, [](auto& a, auto& b) { return b.row_height < a.row_height; }};
  all["panels"] = {nothing, [](auto& a, auto& b) { return a.docks != b.docks; }};
}

void EveryKey::add_asks(std::map<std::string_view, Case>& all) {
  const auto nothing = [] {};
  const auto event = [this] { select("forward"); };
  const auto opens = [](const char* dialog) {
    return [dialog](const Seen& a, const Seen& b) {
      return a.dialog.isEmpty() && b.dialog == QString::fromLatin1(dialog);
    };
  };
  const auto gives_keyboard_to = [](const char* place) {
    return [place](const Seen&, const Seen& b) { return b.focus == QString::fromLatin1(place); };
  };
  all["search"] = {nothing, gives_keyboard_to("search")};
  all["find_ranks"] = {nothing, gives_keyboard_to("ranks")};
  all["pivot"] = {nothing, gives_keyboard_to("pivot")};
  all["operators"] = {nothing, gives_keyboard_to("flame")};
  all["memory"] = {nothing, gives_keyboard_to("memory")};
  all["pipeline"] = {nothing, gives_keyboard_to("pipeline")};
  all["note"] = {event, opens("note")};
  all["picture"] = all["export"] = {nothing, opens("files")};
  all["record"] = {nothing, opens("record_dialog")};
  all["palette"] = {nothing, opens("palette")};
  all["help"] = {nothing, opens("keys")};
  all["save_view"] = {nothing, [](auto& a, auto& b) { return !a.kept && b.kept; }};
}

std::map<std::string_view, EveryKey::Case> EveryKey::cases() {
  std::map<std::string_view, Case> all;
  add_moves(all);
  add_walks(all);
  add_jumps(all);
  add_marks(all);
  add_looks(all);
  add_asks(all);
  return all;
}

TEST_F(EveryKey, DoesWhatTheTableSays) {
  const auto all = cases();
  for (const Command& command : commands()) {
    ASSERT_TRUE(all.contains(command.id)) << command.id << " is not tried";
    for (const QString& key : qt_text(command.keys).split(QLatin1Char{' '})) {
      begin_anew();
      const Case& one = all.at(command.id);
      one.prepare();
      QCoreApplication::processEvents();
      const Seen before = see();
      QTest::keySequence(&timeline_, QKeySequence{key});
      QCoreApplication::processEvents();
      EXPECT_TRUE(one.does(before, see())) << command.id << ": " << key.toStdString() << "; it said "
                                           << window_.statusBar()->currentMessage().toStdString();
    }
  }
  EXPECT_EQ(all.size(), commands().size()) << "a case is of no command";
}

}  // namespace
}  // namespace rankscope::gui
