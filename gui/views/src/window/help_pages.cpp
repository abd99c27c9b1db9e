#include "window/help_pages.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QMessageBox>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace rankscope::gui {
namespace {

QString help_text(const char* text) { return QCoreApplication::translate("Help", text); }

/// Pictures are as wide as the page.
class Pages : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;

 protected:
  QVariant loadResource(int type, const QUrl& name) override {
    QVariant found = QTextBrowser::loadResource(type, name);
    if (type != QTextDocument::ImageResource) return found;
    const QImage picture = found.canConvert<QImage>() && !found.value<QImage>().isNull()
                               ? found.value<QImage>()
                               : QImage{source().resolved(name).toLocalFile()};
    const int room = viewport()->width() - 20;
    return picture.width() > room ? picture.scaledToWidth(room, Qt::SmoothTransformation) : picture;
  }
};

}  // namespace

QString docs_file() {
  constexpr int most_folders = 4;  // build/release/bin of the sources
  QDir folder{QCoreApplication::applicationDirPath()};
  for (int i = 0; i <= most_folders; ++i) {
    if (const QFileInfo file{folder.filePath(QStringLiteral("docs/viewer.md"))};
        file.exists() && folder.exists(QStringLiteral("CMakeLists.txt")))
      return file.canonicalFilePath();
    if (!folder.cdUp()) break;
  }
  return {};
}

bool raise_if_open(QWidget& window, const QString& name) {
  auto* const open = window.findChild<QWidget*>(name);
  if (open == nullptr) return false;
  open->raise();
  open->activateWindow();
  return true;
}

void show_docs(QWidget& window) {
  if (raise_if_open(window, QStringLiteral("docs_pages"))) return;
  const QString file = docs_file();
  if (file.isEmpty()) {
    auto* const missing = new QMessageBox(
        QMessageBox::Information, help_text("Documentation"),
        help_text("The documentation was not found, because this program is not in a source tree of rankscope. Open "
                  "docs/viewer.md in the sources instead."),
        QMessageBox::Ok, &window);
    missing->setAttribute(Qt::WA_DeleteOnClose);
    return missing->open();
  }
  auto* const pages = new Pages(&window);
  pages->setWindowFlag(Qt::Window);
  pages->setAttribute(Qt::WA_DeleteOnClose);
  pages->setObjectName(QStringLiteral("docs_pages"));
  pages->setWindowTitle(help_text("Documentation of rankscope"));
  pages->setAccessibleName(pages->windowTitle());
  pages->setOpenExternalLinks(true);
  pages->resize(900, 760);
  pages->show();
  pages->setSource(QUrl::fromLocalFile(file), QTextDocument::MarkdownResource);
}

void show_about(QWidget& window) {
  auto* const about = new QMessageBox(QMessageBox::NoIcon, help_text("About rankscope"), {}, QMessageBox::Ok, &window);
  about->setAttribute(Qt::WA_DeleteOnClose);
  about->setObjectName(QStringLiteral("about"));
  about->setTextFormat(Qt::PlainText);
  about->setText(QStringLiteral("rankscope %1").arg(QCoreApplication::applicationVersion()));
  about->setInformativeText(
      help_text(
          "Shows which rank, operation, link or schedule makes a step of a training job slow.\n\nApache License 2.0. "
          "Built with Qt %1.")
          .arg(QString::fromLatin1(qVersion())));
  about->open();
}

}  // namespace rankscope::gui
