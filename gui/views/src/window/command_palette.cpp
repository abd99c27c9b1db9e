#include "window/command_palette.h"

#include <QCoreApplication>
#include <QDialog>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "base/panel_parts.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

QString name_of(const QAction& action) { return action.text().remove(QLatin1Char{'&'}); }

constexpr int place_role = Qt::UserRole + 1;  // of the action
constexpr int synonyms_role = Qt::UserRole + 2;

/// Rows with all the words in the name or its synonyms, whatever their order and case; those that have them in the name
/// come first.
class WordsFilter : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;

  void set_words(const QString& text) {
    words_ = text.split(QLatin1Char{' '}, Qt::SkipEmptyParts);
    invalidate();
    sort(0);
  }

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    return has_words(index.data().toString() + QLatin1Char{' '} + index.data(synonyms_role).toString());
  }
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    const auto key = [this](const QModelIndex& index) {
      return std::pair{!has_words(index.data().toString()), index.row()};
    };
    return key(left) < key(right);
  }

 private:
  [[nodiscard]] bool has_words(const QString& text) const {
    return std::ranges::all_of(words_, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
  }

  QStringList words_;
};

class Palette : public QDialog {
 public:
  Palette(QWidget& window, const QList<QAction*>& actions)
      : QDialog(&window), actions_(actions.begin(), actions.end()) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("palette"));
    setWindowTitle(QCoreApplication::translate("Palette", "Commands"));
    list_actions();
    filter_.setSourceModel(&all_);
    words_ = new QLineEdit(this);
    words_->setObjectName(QStringLiteral("palette_words"));
    words_->setPlaceholderText(QCoreApplication::translate("Palette", "Type a command"));
    words_->setAccessibleName(
        QCoreApplication::translate("Palette", "Type a command; Return runs the selected command"));
    words_->installEventFilter(this);
    words_->setFocus();
    none_ = new QLabel(QCoreApplication::translate("Palette", "No command matches. Try fewer or other words."), this);
    none_->setObjectName(QStringLiteral("palette_none"));
    none_->setWordWrap(true);
    none_->hide();
    rows_ = new QTableView(this);
    set_up_table(*rows_, filter_, QCoreApplication::translate("Palette", "Commands and their keys"),
                 QStringLiteral("palette_commands"));
    rows_->horizontalHeader()->hide();
    rows_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    auto* const layout = new QVBoxLayout(this);
    layout->addWidget(words_);
    layout->addWidget(none_);
    layout->addWidget(rows_, 1);
    connect(words_, &QLineEdit::textChanged, this, [this](const QString& text) {
      filter_.set_words(text);
      rows_->selectRow(0);
      none_->setVisible(filter_.rowCount() == 0);
      words_->setAccessibleDescription(filter_.rowCount() == 0 ? none_->text() : QString{});
    });
    connect(words_, &QLineEdit::returnPressed, this, [this] { run(rows_->currentIndex()); });
    on_choice(*rows_, this, [this](const QModelIndex& index) { run(index); });
    rows_->selectRow(0);
    resize(560, 420);
    move(window.mapToGlobal(QPoint{(window.width() - width()) / 2, window.height() / 8}));
  }

 protected:
  /// The list moves while the words have the keyboard.
  bool eventFilter(QObject* watched, QEvent* event) override {
    constexpr std::array moving{Qt::Key_Up, Qt::Key_Down, Qt::Key_PageUp, Qt::Key_PageDown};
    if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (!std::ranges::any_of(moving, [key](Qt::Key each) { return each == key; }))
      return QDialog::eventFilter(watched, event);
    QCoreApplication::sendEvent(rows_, event);
    return true;
  }

 private:
  void list_actions() {
    for (qsizetype i = 0; i < actions_.size(); ++i) {
      auto* const name = new QStandardItem(name_of(*actions_[i]));
      name->setData(i, place_role);
      name->setData(synonyms_of(actions_[i]->objectName()), synonyms_role);
      all_.appendRow({name, new QStandardItem(bound_keys(*actions_[i]))});
    }
  }

  /// Closes first: the command may open a dialog of its own.
  void run(const QModelIndex& index) {
    if (!index.isValid()) return;
    const QPointer<QAction> action = actions_[index.siblingAtColumn(0).data(place_role).toLongLong()];
    accept();
    if (action) action->trigger();
  }

  QList<QPointer<QAction>> actions_;
  QStandardItemModel all_;
  WordsFilter filter_;
  QLineEdit* words_ = nullptr;
  QLabel* none_ = nullptr;
  QTableView* rows_ = nullptr;
};

void add_actions_of(const QMenu& menu, QList<QAction*>& into) {
  for (QAction* const action : menu.actions()) {
    if (action->menu() != nullptr)
      add_actions_of(*action->menu(), into);
    else if (!action->isSeparator() && !into.contains(action))
      into.push_back(action);
  }
}

constexpr std::array all{
    Synonyms{"zoom_in", "magnify closer larger"},
    Synonyms{"zoom_out", "smaller farther"},
    Synonyms{"fit", "zoom out whole everything full reset fit entire"},
    Synonyms{"zoom_selection", "fit magnify"},
    Synonyms{"earlier", "pan left before"},
    Synonyms{"later", "pan right after"},
    Synonyms{"back", "undo previous history"},
    Synonyms{"forward", "redo history"},
    Synonyms{"search", "find filter highlight look"},
    Synonyms{"next_match", "find hit"},
    Synonyms{"previous_match", "find hit"},
    Synonyms{"find_ranks", "find filter search show hide only gpu process"},
    Synonyms{"next_collective", "nccl allreduce collective comm"},
    Synonyms{"previous_collective", "nccl allreduce collective comm"},
    Synonyms{"next_step", "iteration batch"},
    Synonyms{"previous_step", "iteration batch"},
    Synonyms{"select_step", "iteration batch range measure"},
    Synonyms{"next_finding", "problem issue warning bottleneck"},
    Synonyms{"previous_finding", "problem issue warning bottleneck"},
    Synonyms{"follow", "flow launch link"},
    Synonyms{"follow_back", "flow launch link"},
    Synonyms{"mark", "bookmark flag"},
    Synonyms{"keep_mark", "bookmark flag"},
    Synonyms{"remove_mark", "bookmark flag delete"},
    Synonyms{"note", "comment annotate text"},
    Synonyms{"copy", "clipboard"},
    Synonyms{"save_view", "keep pins marks view state file bookmark"},
    Synonyms{"picture", "screenshot image png svg save image snapshot print"},
    Synonyms{"export", "save write trace json pftrace tracing"},
    Synonyms{"clear", "deselect unselect none"},
    Synonyms{"pin", "favourite favorite top"},
    Synonyms{"critical_path", "longest chain"},
    Synonyms{"colour", "color"},
    Synonyms{"fold", "collapse close hide"},
    Synonyms{"unfold", "expand open show"},
    Synonyms{"fold_one", "collapse expand"},
    Synonyms{"taller", "bigger higher larger height"},
    Synonyms{"lower", "smaller height"},
    Synonyms{"pivot", "sum count median share table query sql group csv"},
    Synonyms{"operators", "flame graph flamegraph stack call tree"},
    Synonyms{"memory", "ram vram allocation leak peak"},
    Synonyms{"pipeline", "bubble micro-batch stage"},
    Synonyms{"panels", "docks sidebar hide show full screen"},
    Synonyms{"help", "shortcuts keyboard hotkeys bindings"},
    Synonyms{"open_recording", "load folder"},
    Synonyms{"open_files", "load trace kineto nsys pack import"},
    Synonyms{"record", "profile capture trace start"},
    Synonyms{"quit", "exit close"},
    Synonyms{"reset_layout", "panels docks default restore arrange windows"},
    Synonyms{"theme_desktop", "mode appearance system automatic"},
    Synonyms{"theme_light", "mode appearance bright white day"},
    Synonyms{"theme_dark", "mode appearance black night"},
    Synonyms{"legend", "legend key meaning color hatching"},
    Synonyms{"docs", "manual help documentation guide"},
    Synonyms{"about", "version licence license"},
};

}  // namespace

QList<QAction*> actions_of(const QMenuBar& menus) {
  QList<QAction*> all;
  for (const QAction* const top : menus.actions())
    if (top->menu() != nullptr) add_actions_of(*top->menu(), all);
  return all;
}

void show_command_palette(QWidget& window, const QList<QAction*>& actions) {
  QList<QAction*> usable;
  std::ranges::copy_if(actions, std::back_inserter(usable), [](const QAction* action) {
    return action->isVisible() && action->isEnabled() && action->objectName() != QStringLiteral("palette");
  });
  auto* const palette = new Palette(window, usable);
  palette->show();
  palette->activateWindow();
}

std::span<const Synonyms> synonyms() { return all; }

QString synonyms_of(const QString& id) {
  const std::string wanted = id.toStdString();
  const auto found = std::ranges::find(all, wanted, &Synonyms::id);
  return found == all.end() ? QString{}
                            : QString::fromUtf8(found->words.data(), static_cast<qsizetype>(found->words.size()));
}

}  // namespace rankscope::gui
