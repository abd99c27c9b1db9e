// rankscope-gui: the timeline viewer.
#include <QApplication>
#include <QStatusBar>
#include <cstdio>

#include "picture_run.h"
#include "rankscope/gui/models/session/moments.h"
#include "rankscope/gui/views/base/theme.h"
#include "rankscope/gui/views/compare/compare_window.h"
#include "rankscope/gui/views/window/main_window.h"
#include "start.h"

namespace {

using namespace rankscope::gui;

/// Once, when the run that was named is there.
void apply(Session& session, MainWindow& window, const StartOptions& options) {
  if (!options.ranks.empty()) window.choose_ranks(QString::fromStdString(options.ranks));
  if (!options.at) return;
  const QString why_not = why_not_at(session, *options.at);
  why_not.isEmpty() ? look_at(session, *options.at) : window.warn(why_not);
}

int show(const StartOptions& options) {
  Session session;
  MainWindow window{session};
  QObject::connect(
      &session, &Session::runOpened, &window, [&] { apply(session, window, options); },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  if (!options.session.empty()) window.use_view_file(options.session);
  if (!options.picture.empty()) return make_picture(session, window, options);
  window.show();
  if (!options.source.paths.empty()) session.open(options.source);
  return QApplication::exec();
}

int compare(const StartOptions& options) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  QObject::connect(
      &a, &Session::runOpened, &window,
      [&] {
        if (!options.at) return;
        const QString why_not = why_not_at(a, *options.at);
        why_not.isEmpty() ? look_at(a, *options.at) : window.statusBar()->showMessage(why_not);
      },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  window.choose_ranks(QString::fromStdString(options.ranks));
  window.show();
  a.open(options.source);
  b.open(options.other);
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  const bool draws = asks_for_picture({argv, static_cast<std::size_t>(argc)});
  draws ? keep_notes_of_qt() : end_without_display_in_words();
  if (draws && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  OwnFonts own_fonts;
  QApplication application(argc, argv);
  if (!draws) show_notes_of_qt();
  QApplication::setOrganizationName(QStringLiteral("rankscope"));
  QApplication::setApplicationName(QStringLiteral("rankscope"));
  QApplication::setApplicationVersion(QStringLiteral(RANKSCOPE_VERSION));
  own_fonts.read();
  use_theme(chosen_theme());
  const Placeholders placeholders{application};
  const auto options = start_options();
  if (options) return options->other.paths.empty() ? show(*options) : compare(*options);
  std::fprintf(stderr, "rankscope: %s\n", options.error().message.c_str());
  return rankscope::exit_status(options.error().kind);
}
