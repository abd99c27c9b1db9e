#include "base/save_dialog.h"

namespace rankscope::gui {
namespace {

/// The end of names that a filter as "Picture (*.png)" is for: "png".
QString end_of(const QString& filter) {
  const qsizetype point = filter.lastIndexOf(QLatin1Char{'.'});
  return filter.mid(point + 1, filter.lastIndexOf(QLatin1Char{')'}) - point - 1);
}

}  // namespace

QFileDialog* make_save_dialog(QWidget& window, const QString& title, const QStringList& filters) {
  auto* const dialog = new QFileDialog(&window, title);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setNameFilters(filters);
  dialog->setDefaultSuffix(end_of(filters.front()));
  QObject::connect(dialog, &QFileDialog::filterSelected, dialog,
                   [dialog](const QString& filter) { dialog->setDefaultSuffix(end_of(filter)); });
  return dialog;
}

}  // namespace rankscope::gui
