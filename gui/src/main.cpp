// rankscope-gui: the timeline viewer.
#include <QApplication>
#include <cstdio>

#include "rankscope/gui/views/main_window.h"
#include "start.h"

namespace {

using namespace rankscope::gui;

/// Once, when the run that was named is there.
void apply(Session& session, MainWindow& window, const StartOptions& options) {
  window.choose_ranks(QString::fromStdString(options.ranks));
  if (!options.at) return;
  constexpr auto half = rankscope::nanoseconds{50'000'000};
  const rankscope::RunTime middle = session.extent().begin + *options.at;
  session.set_visible({middle - half, middle + half});
}

}  // namespace

int main(int argc, char** argv) {
  end_without_display_in_words();
  QApplication application(argc, argv);
  qInstallMessageHandler(nullptr);
  QApplication::setOrganizationName(QStringLiteral("rankscope"));
  QApplication::setApplicationName(QStringLiteral("rankscope"));
  QApplication::setApplicationVersion(QStringLiteral(RANKSCOPE_VERSION));
  const auto options = start_options();
  if (!options) {
    std::fprintf(stderr, "rankscope: %s\n", options.error().message.c_str());
    return rankscope::exit_status(options.error().kind);
  }
  Session session;
  MainWindow window(session);
  QObject::connect(
      &session, &Session::runOpened, &window, [&] { apply(session, window, *options); },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  window.show();
  if (!options->source.paths.empty()) session.open(options->source);
  return QApplication::exec();
}
