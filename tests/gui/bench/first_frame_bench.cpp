// From asking for a native recording of 10 M events to the first frame that shows them, in a window of 1920x1080.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QEventLoop>
#include <QSettings>
#include <QTemporaryDir>
#include <chrono>

#include "bench/large_recording.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"

namespace rankscope::gui {
namespace {

void first_frame_of_10M_events(benchmark::State& state) {
  static const bench::LargeRecording recording;
  for ([[maybe_unused]] const auto turn : state) {
    Session session;
    MainWindow window{session};
    window.resize(1920, 1080);
    window.show();
    QEventLoop loop;
    QString why;
    QObject::connect(&session, &Session::failed, &loop, [&](const QString& sentence) {
      why = sentence;
      loop.quit();
    });
    const TimelineView& timeline = window.timeline();
    QObject::connect(&timeline, &TimelineView::framePainted, &loop, [&] {
      if (session.run() != nullptr && timeline.is_up_to_date()) loop.quit();
    });
    const auto asked = std::chrono::steady_clock::now();
    session.open({.paths = {recording.folder()}});
    loop.exec();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count());
    if (!why.isEmpty()) return state.SkipWithError(why.toStdString().c_str());
    session.stop();  // the report of the whole run is another measure
  }
}
BENCHMARK(first_frame_of_10M_events)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(3);

}  // namespace
}  // namespace rankscope::gui

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  const QTemporaryDir settings;
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
  QCoreApplication::setOrganizationName(QStringLiteral("rankscope"));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
