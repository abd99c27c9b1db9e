// The reference trainer, recorded from the dialog and watched while it trains.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <map>
#include <set>
#include <string>

#include "rankscope/core/choices.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/record/live_table.h"
#include "rankscope/gui/models/record/record_form.h"
#include "rankscope/gui/views/record/record_dialog.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

#ifdef RANKSCOPE_HAS_TRAINER

constexpr int patience_ms = 120'000;
constexpr int steps = 40;

TEST(RecordTrainer, TheDialogOffersTheModesOfTheTrainer) {
  QProcess trainer;
  trainer.start(QStringLiteral(RANKSCOPE_PROGRAM), {QStringLiteral("train"), QStringLiteral("--list-modes")});
  ASSERT_TRUE(trainer.waitForFinished(patience_ms));
  std::map<QString, bool> listed;  // whether it runs on one rank only
  for (const QByteArray& line : trainer.readAllStandardOutput().trimmed().split('\n')) {
    const QList<QByteArray> fields = line.split('\t');
    ASSERT_GE(fields.size(), 2) << line.toStdString();
    listed.emplace(QString::fromUtf8(fields[0]), fields[1] == "one");
  }
  std::map<QString, bool> offered;
  for (const choices::Mode& mode : choices::modes) offered.emplace(qt_text(mode.id), mode.one_rank);
  EXPECT_EQ(offered, listed);
}

TEST(RecordTrainer, StepsSplitAndMemoryAreSeenWhileItTrains) {
  const testing::TemporaryFolder folder;
  QSettings{}.remove(QStringLiteral("record"));
  RecordDialog dialog{QStringLiteral(RANKSCOPE_PROGRAM)};
  dialog.show();
  dialog.findChild<QComboBox*>(QStringLiteral("what"))->setCurrentIndex(static_cast<int>(RecordWhat::trainer));
  dialog.findChild<QSpinBox*>(QStringLiteral("steps"))->setValue(steps);
  dialog.findChild<QLineEdit*>(QStringLiteral("trainer_more"))->setText(QStringLiteral("--pace 100"));
  dialog.findChild<QLineEdit*>(QStringLiteral("folder"))->setText(QString::fromStdString(folder.path().string()));
  dialog.findChild<QPushButton*>(QStringLiteral("start"))->click();
  const auto* const table = dialog.findChild<QTableView*>(QStringLiteral("live_table"))->model();
  const auto cell = [table](int row, LiveTable::Column column) { return table->index(row, column).data().toString(); };
  const auto has_split = [&](int row) { return !cell(row, LiveTable::compute).isEmpty(); };
  bool seen_in_time = false;
  const auto seen = [&] {
    for (int row = 0; row < table->rowCount(); ++row)
      seen_in_time =
          seen_in_time || (dialog.run().is_running() && has_split(row) && cell(row, LiveTable::steps).toInt() < steps &&
                           !cell(row, LiveTable::host_memory).isEmpty());
    return seen_in_time || !dialog.run().is_running();
  };
  ASSERT_TRUE(QTest::qWaitFor(seen, patience_ms));
  EXPECT_TRUE(seen_in_time) << "before the job has ended";
  ASSERT_TRUE(QTest::qWaitFor([&] { return dialog.run().stage() == RunStage::ended; }, patience_ms));
  EXPECT_TRUE(dialog.run().ended_well()) << dialog.run().sentence().toStdString();
  const auto steps_of = [&](const QString& process) {
    for (int row = 0; row < table->rowCount(); ++row)
      if (cell(row, LiveTable::process) == process) return cell(row, LiveTable::steps).toInt();
    return -1;
  };
  EXPECT_TRUE(QTest::qWaitFor([&] { return steps_of(QStringLiteral("rank 1")) == steps; }, patience_ms));
  EXPECT_EQ(steps_of(QStringLiteral("rank 0")), steps);
  const auto run = recording::read_recording(folder / "run.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->ranks().size(), 2U);
}

TEST(RecordTrainer, StopEndsAllRanksAndKeepsTheirSteps) {
  const testing::TemporaryFolder folder;
  QSettings{}.remove(QStringLiteral("record"));
  RecordDialog dialog{QStringLiteral(RANKSCOPE_PROGRAM)};
  dialog.show();
  dialog.findChild<QComboBox*>(QStringLiteral("what"))->setCurrentIndex(static_cast<int>(RecordWhat::trainer));
  dialog.findChild<QSpinBox*>(QStringLiteral("steps"))->setValue(1'000'000);
  dialog.findChild<QLineEdit*>(QStringLiteral("folder"))->setText(QString::fromStdString(folder.path().string()));
  dialog.findChild<QPushButton*>(QStringLiteral("start"))->click();
  const auto* const table = dialog.findChild<QTableView*>(QStringLiteral("live_table"))->model();
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->index(0, LiveTable::steps).data().toInt() > 2; }, patience_ms));
  dialog.findChild<QPushButton*>(QStringLiteral("stop"))->click();
  ASSERT_TRUE(QTest::qWaitFor([&] { return dialog.run().stage() == RunStage::ended; }, patience_ms));
  EXPECT_LT(dialog.run().elapsed(), grace + std::chrono::seconds{15});
  EXPECT_TRUE(dialog.run().sentence().startsWith(QStringLiteral("Stopped."))) << dialog.run().sentence().toStdString();
  const auto run = recording::read_recording(folder / "run.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->ranks().size(), 2U);
  EXPECT_TRUE(recording::spool_marks_of(folder / "run.rankscope").empty());
}

TEST(RecordTrainer, TheFormOffersWhatTheTrainerHas) {
  QProcess program;
  program.start(QStringLiteral(RANKSCOPE_PROGRAM), {QStringLiteral("train"), QStringLiteral("-h")});
  ASSERT_TRUE(program.waitForFinished());
  const QString help = QString::fromUtf8(program.readAllStandardOutput());
  const auto models = QRegularExpression{QStringLiteral("--model ([a-z0-9_|]+)")}.match(help);
  ASSERT_TRUE(models.hasMatch()) << help.toStdString();
  std::set<std::string> listed_models;
  for (const QString& model : models.captured(1).split(QLatin1Char{'|'})) listed_models.insert(model.toStdString());
  EXPECT_EQ(std::set<std::string>(choices::models.begin(), choices::models.end()), listed_models);
  std::set<std::string> listed_faults;
  static const QRegularExpression fault{QStringLiteral("\\b([a-z]+):rank=R\\b")};
  for (auto match = fault.globalMatch(help); match.hasNext();)
    listed_faults.insert(match.next().captured(1).toStdString());
  EXPECT_EQ(std::set<std::string>(choices::faults.begin(), choices::faults.end()), listed_faults);
}

#endif

}  // namespace
}  // namespace rankscope::gui
