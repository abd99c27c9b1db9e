// Dialogs that ask where a file goes.
#include <gmock/gmock.h>

#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QTimer>
#include <filesystem>
#include <fstream>

#include "gui/waiting.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

struct AskedFor {
  testing::TemporaryFolder folder;
  Session session;
  MainWindow window{session};
  QFileDialog* dialog = nullptr;

  explicit AskedFor(void (TimelineView::*request)()) {
    window.show();
    session.show(*run_from_text("0 compute 0 100 gemm\n"));
    EXPECT_TRUE(testing::becomes_ready(session));
    Q_EMIT(window.timeline().*request)();
    dialog = window.findChild<QFileDialog*>();
    dialog->setDirectory(QString::fromStdString(folder.path().string()));
  }
  void type(const char* name) const {
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(QString::fromLatin1(name));
  }
  /// With the signals that follow when a person does it.
  void choose_second_filter() const {
    auto* const filters = dialog->findChild<QComboBox*>(QStringLiteral("fileTypeCombo"));
    filters->setCurrentIndex(1);
    Q_EMIT filters->activated(1);
    Q_EMIT filters->textActivated(filters->itemText(1));
  }
  [[nodiscard]] std::string named() const {
    return std::filesystem::path{dialog->selectedFiles().front().toStdString()}.filename().string();
  }
  /// What the file begins with as soon as it is written.
  [[nodiscard]] std::string written(const std::string& name) const {
    const auto there = [&] { return std::filesystem::exists(folder / name) && !is_empty(folder / name); };
    return testing::comes_true(there) ? testing::read_file(folder / name).substr(0, 1) : "no file";
  }
};

TEST(TimelineRequests, ANameGetsTheEndOfTheChosenFilter) {
  const AskedFor asked{&TimelineView::pictureRequested};
  asked.type("step");
  EXPECT_EQ(asked.named(), "step.png");
  asked.choose_second_filter();
  EXPECT_EQ(asked.named(), "step.svg");
  asked.type("step.png");
  EXPECT_EQ(asked.named(), "step.png");
}

TEST(TimelineRequests, NoFileIsOverwrittenWithoutAsking) {
  const AskedFor asked{&TimelineView::pictureRequested};
  std::ofstream{asked.folder / "step.png"} << "kept";
  asked.type("step");
  QString question;
  QTimer answer;  // the dialog waits for it
  QObject::connect(&answer, &QTimer::timeout, &answer, [&question] {
    auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (box == nullptr) return;
    question = box->text();
    box->button(QMessageBox::No)->click();
  });
  answer.start(0);
  QMetaObject::invokeMethod(asked.dialog, "accept");
  EXPECT_THAT(question.toStdString(), ::testing::HasSubstr("step.png"));
  EXPECT_EQ(testing::read_file(asked.folder / "step.png"), "kept");
}

TEST(TimelineRequests, TheEndOfTheNameSaysTheFormatOfAnExport) {
  const AskedFor chrome{&TimelineView::exportRequested};  // the first filter is Perfetto
  chrome.type("run.json");
  QMetaObject::invokeMethod(chrome.dialog, "accept");
  EXPECT_EQ(chrome.written("run.json"), "{");
  const AskedFor perfetto{&TimelineView::exportRequested};
  perfetto.choose_second_filter();
  perfetto.type("run.pftrace");
  QMetaObject::invokeMethod(perfetto.dialog, "accept");
  EXPECT_EQ(perfetto.written("run.pftrace"), "\n");  // tag and type of a packet
}

}  // namespace
}  // namespace rankscope::gui
