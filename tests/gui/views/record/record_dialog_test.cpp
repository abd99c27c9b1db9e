// The dialog that records, with a scripted rankscope and the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <filesystem>
#include <fstream>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/record/record_dialog.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

QString text(const std::string& words) { return QString::fromStdString(words); }

class Dialog : public ::testing::Test {
 protected:
  explicit Dialog(Result<QString> program = QStringLiteral(RANKSCOPE_PROGRAM)) {
    QSettings{}.remove(QStringLiteral("record"));
    dialog_ = std::make_unique<RecordDialog>(std::move(program));
    dialog_->show();
    edit("folder").setText(text(folder_.path().string()));
    edit("out").setText(text(out().string()));
  }
  template <class Widget>
  [[nodiscard]] Widget& find(const char* name) const {
    return *dialog_->findChild<Widget*>(QLatin1String{name});
  }
  [[nodiscard]] QLineEdit& edit(const char* name) const { return find<QLineEdit>(name); }
  [[nodiscard]] std::string label(const char* name) const {
    const auto& one = find<QLabel>(name);
    return one.isVisible() ? one.text().toStdString() : "";
  }
  void press(const char* name) const { find<QPushButton>(name).click(); }
  [[nodiscard]] fs::path out() const { return folder_ / "run.rankscope"; }
  [[nodiscard]] bool ends() const {
    return testing::comes_true([this] { return dialog_->run().stage() == RunStage::ended; });
  }
  [[nodiscard]] bool log_says(const char* what) const {
    return testing::comes_true(
        [&] { return find<QPlainTextEdit>("record_log").toPlainText().contains(QLatin1String{what}); });
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<RecordDialog> dialog_;
};

TEST_F(Dialog, SaysBesideTheFieldWhatIsWrongAndStartsNothing) {
  EXPECT_EQ(label("command_problem"), "") << "nobody has asked for anything yet";
  press("start");
  EXPECT_THAT(label("command_problem"), HasSubstr("Enter the command to run"));
  EXPECT_EQ(edit("command").accessibleDescription().toStdString(), label("command_problem"));
  EXPECT_EQ(dialog_->focusWidget(), &edit("command"));
  EXPECT_EQ(dialog_->run().stage(), RunStage::idle);
  edit("command").setText(QStringLiteral("sh -c 'exit 0' | cat"));
  EXPECT_THAT(label("command_problem"), HasSubstr("A shell would interpret '|'"));
  edit("command").setText(QStringLiteral("sh -c 'exit 0'"));
  EXPECT_EQ(label("command_problem"), "");
  edit("window").setText(QStringLiteral("ten"));
  EXPECT_THAT(label("window_problem"), HasSubstr("wait,warmup,active,repeat"));
}

TEST_F(Dialog, TeachesTheCommandLine) {
  edit("command").setText(QStringLiteral("python 'my train.py'"));
  find<QCheckBox>("no-pytorch").setChecked(true);
  find<QCheckBox>("nvml").setChecked(false);
  const std::string line = find<QPlainTextEdit>("command_line").toPlainText().toStdString();
  EXPECT_THAT(line, HasSubstr("cd " + folder_.path().string() + " && "));
  EXPECT_THAT(line, HasSubstr(" record --out " + out().string() +
                              " --collect annotate,nvtx,host,cupti,nccl --no-pytorch -- python 'my train.py'"));
  press("copy_line");
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(), line);
  find<QComboBox>("what").setCurrentIndex(2);
  EXPECT_FALSE(edit("command").isVisible());
  EXPECT_TRUE(edit("fault").isVisible());
  EXPECT_THAT(find<QPlainTextEdit>("command_line").toPlainText().toStdString(),
              HasSubstr("--parallel ddp --ranks 2 --scale tiny --steps 20"));
}

TEST_F(Dialog, AllFieldsHaveNamesAndAreReachedByTheKeyboard) {
  int named = 0;
  for (const QWidget* const widget : dialog_->findChildren<QWidget*>()) {
    if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
    if (qobject_cast<const QAbstractButton*>(widget) != nullptr) continue;  // named by their text
    if (widget->objectName().startsWith(QStringLiteral("qt_"))) continue;   // the line in a spin box
    EXPECT_FALSE(widget->accessibleName().isEmpty())
        << widget->metaObject()->className() << ' ' << widget->objectName().toStdString();
    ++named;
  }
  EXPECT_GT(named, 2) << "the command, the folder and the recording at least";
}

TEST_F(Dialog, RecordsShowsTheLogAndOffersTheRecording) {
  const QSignalSpy opened{dialog_.get(), &RecordDialog::openRequested};
  edit("command").setText(QStringLiteral("sh -c 'echo working; sleep 0.1'"));
  press("start");
  EXPECT_TRUE(find<QPushButton>("stop").isVisible());
  ASSERT_TRUE(ends());
  EXPECT_TRUE(log_says("working\n"));
  EXPECT_TRUE(log_says("rankscope: recorded"));
  EXPECT_EQ(label("run_sentence"), "The command ended successfully.");
  ASSERT_EQ(opened.count(), 1);
  EXPECT_EQ(opened.front().front().toString().toStdString(), out().string());
  EXPECT_FALSE(find<QPushButton>("stop").isVisible());
  EXPECT_TRUE(find<QPushButton>("open_recorded").isVisible());
  press("back");
  EXPECT_EQ(edit("out").text().toStdString(), (folder_ / "run-2.rankscope").string());
  EXPECT_EQ(QSettings{}.value(QStringLiteral("record/command")).toString().toStdString(),
            "sh -c 'echo working; sleep 0.1'");
}

TEST_F(Dialog, ABadEndOpensNothingByItself) {
  const QSignalSpy opened{dialog_.get(), &RecordDialog::openRequested};
  edit("command").setText(QStringLiteral("sh -c 'echo oops; exit 3'"));
  press("start");
  ASSERT_TRUE(ends());
  EXPECT_EQ(label("run_sentence"), "The command ended with status 3.");
  EXPECT_TRUE(log_says("oops"));
  EXPECT_EQ(opened.count(), 0);
  press("open_recorded");
  EXPECT_EQ(opened.count(), 1);
}

TEST_F(Dialog, AsksBeforeARecordingIsReplaced) {
  edit("command").setText(QStringLiteral("true"));
  find<QCheckBox>("open_at_end").setChecked(false);
  press("start");
  ASSERT_TRUE(ends());
  const auto written = fs::last_write_time(out());
  press("back");
  edit("out").setText(text(out().string()));
  press("start");
  auto* const first = dialog_->findChild<QMessageBox*>(QStringLiteral("replace"));
  ASSERT_NE(first, nullptr);
  first->button(QMessageBox::Cancel)->click();
  EXPECT_EQ(fs::last_write_time(out()), written);
  ASSERT_TRUE(testing::comes_true([&] { return dialog_->findChild<QMessageBox*>() == nullptr; }));
  press("start");
  auto* const second = dialog_->findChild<QMessageBox*>(QStringLiteral("replace"));
  for (QAbstractButton* const button : second->buttons())
    if (second->buttonRole(button) == QMessageBox::AcceptRole) button->click();
  EXPECT_TRUE(dialog_->run().is_running());
  ASSERT_TRUE(ends());
  EXPECT_NE(fs::last_write_time(out()), written);
  EXPECT_EQ(folder_.file_count(), 1U);
}

TEST_F(Dialog, TheLogFollowsItsEndUnlessItWasScrolledAway) {
  edit("command").setText(QStringLiteral("sh -c 'seq 300; echo first part; sleep 0.6; seq 300; echo last'"));
  find<QCheckBox>("open_at_end").setChecked(false);
  press("start");
  ASSERT_TRUE(log_says("first part"));
  auto& log = find<QPlainTextEdit>("record_log");
  EXPECT_EQ(log.verticalScrollBar()->value(), log.verticalScrollBar()->maximum());
  log.verticalScrollBar()->setValue(10);
  ASSERT_TRUE(log_says("last"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(log.verticalScrollBar()->value(), 10);
  EXPECT_EQ(log.toPlainText().count(QStringLiteral("first part")), 1);
}

TEST_F(Dialog, ClosingWhileAJobRunsAsksAndStopsIt) {
  const QSignalSpy closable{dialog_.get(), &RecordDialog::closable};
  edit("command").setText(QStringLiteral("sh -c 'trap \"exit 1\" INT; echo ready; while :; do sleep 0.02; done'"));
  press("start");
  ASSERT_TRUE(log_says("ready"));
  dialog_->close();
  EXPECT_TRUE(dialog_->isVisible());
  auto* const question = dialog_->findChild<QMessageBox*>(QStringLiteral("stop_job"));
  ASSERT_NE(question, nullptr);
  for (QAbstractButton* const button : question->buttons())
    if (question->buttonRole(button) == QMessageBox::AcceptRole) button->click();
  ASSERT_TRUE(ends());
  EXPECT_EQ(closable.count(), 1);
  EXPECT_FALSE(dialog_->isVisible());
  EXPECT_TRUE(dialog_->run().has_recording());
}

class DialogWithoutProgram : public Dialog {
 protected:
  DialogWithoutProgram() : Dialog(fail(ErrorKind::cannot_write, "The program rankscope is nowhere.")) {}
};

TEST_F(DialogWithoutProgram, SaysThatNothingCanBeRecorded) {
  EXPECT_EQ(label("said"), "The program rankscope is nowhere.");
  edit("command").setText(QStringLiteral("true"));
  press("start");
  EXPECT_EQ(dialog_->run().stage(), RunStage::idle);
}

/// A window finds rankscope in PATH.
class RecordFromWindow : public ::testing::Test {
 protected:
  RecordFromWindow() {
    const fs::path folder = fs::path{RANKSCOPE_PROGRAM}.parent_path();
    qputenv("PATH", QByteArray::fromStdString(folder.string()) + ':' + qgetenv("PATH"));
    QSettings{}.remove(QStringLiteral("record"));
  }
};

TEST_F(RecordFromWindow, TheEmptyWindowOffersItAndShowsTheRecording) {
  const testing::TemporaryFolder folder;
  Session session;
  MainWindow window{session};
  window.show();
  auto* const offer = window.findChild<QPushButton*>(QStringLiteral("start_record"));
  ASSERT_TRUE(offer->isVisible());
  offer->click();
  auto* const dialog = window.findChild<RecordDialog*>();
  ASSERT_TRUE(dialog != nullptr && dialog->isVisible());
  dialog->findChild<QLineEdit*>(QStringLiteral("folder"))->setText(text(folder.path().string()));
  dialog->findChild<QLineEdit*>(QStringLiteral("out"))->setText(QStringLiteral("run.rankscope"));
  dialog->findChild<QLineEdit*>(QStringLiteral("command"))->setText(QStringLiteral("sleep 1.3"));
  dialog->findChild<QPushButton*>(QStringLiteral("start"))->click();
  ASSERT_TRUE(testing::comes_true([&] { return dialog->run().stage() == RunStage::ended; }));
  EXPECT_TRUE(dialog->run().ended_well());
  ASSERT_TRUE(testing::comes_true([&] { return session.run() != nullptr; }));
  EXPECT_FALSE(offer->isVisible());
  EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("run.rankscope")));
  EXPECT_FALSE(dialog->isVisible()) << "it would stand before the recording";
  Q_EMIT window.timeline().recordRequested();
  EXPECT_TRUE(dialog->findChild<QLineEdit*>(QStringLiteral("command"))->isVisible()) << "the form, not the last job";
  EXPECT_TRUE(dialog->findChild<QLineEdit*>(QStringLiteral("out"))->text().endsWith(QStringLiteral("run-2.rankscope")));
}

TEST_F(RecordFromWindow, AWindowWithAJobAsksBeforeItCloses) {
  const testing::TemporaryFolder folder;
  Session session;
  MainWindow window{session};
  window.show();
  Q_EMIT window.timeline().recordRequested();
  auto* const dialog = window.findChild<RecordDialog*>();
  dialog->findChild<QLineEdit*>(QStringLiteral("folder"))->setText(text(folder.path().string()));
  dialog->findChild<QLineEdit*>(QStringLiteral("command"))->setText(QStringLiteral("sleep 60"));
  dialog->findChild<QPushButton*>(QStringLiteral("start"))->click();
  ASSERT_TRUE(testing::comes_true([&] { return fs::exists(folder / "run.rankscope"); }));
  EXPECT_FALSE(window.close());
  dialog->findChild<QMessageBox*>(QStringLiteral("stop_job"))->button(QMessageBox::Cancel)->click();
  EXPECT_TRUE(dialog->run().is_running());
  ASSERT_TRUE(testing::comes_true([&] { return dialog->findChild<QMessageBox*>() == nullptr; }));
  EXPECT_FALSE(window.close());
  auto* const question = dialog->findChild<QMessageBox*>(QStringLiteral("stop_job"));
  ASSERT_NE(question, nullptr);
  for (QAbstractButton* const button : question->buttons())
    if (question->buttonRole(button) == QMessageBox::AcceptRole) button->click();
  EXPECT_TRUE(testing::comes_true([&] { return !window.isVisible(); }));
  EXPECT_EQ(dialog->run().stage(), RunStage::ended);
}

}  // namespace
}  // namespace rankscope::gui
