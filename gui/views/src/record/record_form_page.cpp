#include "record/record_form_page.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "base/dialogs.h"
#include "rankscope/core/choices.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

constexpr int most_ranks = 4096;
constexpr int most_steps = 1'000'000'000;
constexpr double fastest_hz = 100;
constexpr double longest_s = 1e7;

QLabel* wrong_label(const QString& name, QWidget* parent) {
  auto* const label = new QLabel(parent);
  label->setObjectName(name);
  label->setWordWrap(true);
  label->setStyleSheet(QStringLiteral("QLabel { color: #d0312d; }"));
  label->hide();
  return label;
}

/// "--pytorch" as it is typed, what it does beside it.
QCheckBox* box_of(const RecordFlag& flag, QWidget* parent) {
  auto* const box = new QCheckBox(qt_text(flag.id), parent);
  box->setObjectName(qt_text(flag.id));
  QString title = qt_text(flag.title);
  title[0] = title[0].toUpper();
  box->setToolTip(title);
  box->setAccessibleDescription(title);
  return box;
}

}  // namespace

RecordFormPage::RecordFormPage(const QString& program, QWidget* parent) : QWidget(parent), program_(program) {
  auto* const content = new QWidget(this);
  auto* const parts = new QVBoxLayout(content);
  for (QWidget* const part : {make_what(), make_places(), make_options()}) parts->addWidget(part);
  parts->addStretch(1);
  auto* const area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);  // it follows the field that has the keyboard
  area->setWidget(content);
  auto* const rows = new QVBoxLayout(this);
  rows->addWidget(area, 1);
  rows->addWidget(make_line());
  said_ = wrong_label(QStringLiteral("said"), this);
  rows->addWidget(said_);
  rows->addWidget(make_buttons());
  take_change();
}

QLineEdit* RecordFormPage::make_edit(const QString& name, const QString& accessible_name, const QString& placeholder) {
  auto* const edit = new QLineEdit(this);
  edit->setObjectName(name);
  edit->setAccessibleName(accessible_name);
  edit->setPlaceholderText(placeholder);
  connect(edit, &QLineEdit::textChanged, this, &RecordFormPage::take_change);
  return edit;
}

void RecordFormPage::add_row(QFormLayout& layout, const QString& title, QWidget* field) {
  auto* const label = new QLabel(title, this);
  label->setBuddy(field);
  layout.addRow(label, field);
}

void RecordFormPage::add_checked(QFormLayout& layout, const QString& title, QWidget* field, RecordField id,
                                 QWidget* around) {
  auto* const label = new QLabel(title, this);
  label->setBuddy(field);
  auto* const problem = wrong_label(field->objectName() + QStringLiteral("_problem"), this);
  layout.addRow(label, around == nullptr ? field : around);
  layout.addRow(QString{}, problem);
  checked_[id] = {field, problem};
}

QWidget* RecordFormPage::make_what() {
  auto* const part = new QWidget(this);
  auto* const form = new QFormLayout(part);
  what_ = new QComboBox(part);
  what_->setObjectName(QStringLiteral("what"));
  what_->setAccessibleName(tr("What to run"));
  what_->addItems({tr("A program with its arguments"), tr("A shell command line"), tr("The reference trainer")});
  connect(what_, &QComboBox::currentIndexChanged, this, &RecordFormPage::take_change);
  add_row(*form, tr("&Run"), what_);
  command_part_ = new QWidget(part);
  auto* const command_form = new QFormLayout(command_part_);
  command_form->setContentsMargins(0, 0, 0, 0);
  command_ = make_edit(QStringLiteral("command"), tr("Command line"), tr("torchrun --nproc-per-node 4 train.py"));
  command_->setToolTip(
      tr("Spaces separate words; '...' and \"...\" keep spaces, and a backslash keeps the next character as it is. "
         "Variables, * and | need a shell."));
  add_checked(*command_form, tr("Co&mmand"), command_, RecordField::command);
  form->addRow(command_part_);
  trainer_part_ = make_trainer();
  form->addRow(trainer_part_);
  return part;
}

QWidget* RecordFormPage::make_trainer() {
  auto* const part = new QWidget(this);
  auto* const form = new QFormLayout(part);
  form->setContentsMargins(0, 0, 0, 0);
  const auto choice = [&](const char* name, const QString& accessible_name) {
    auto* const box = new QComboBox(part);
    box->setObjectName(QLatin1String{name});
    box->setAccessibleName(accessible_name);
    connect(box, &QComboBox::currentTextChanged, this, &RecordFormPage::take_change);
    return box;
  };
  const auto number = [&](const char* name, const QString& accessible_name, int most) {
    auto* const box = new QSpinBox(part);
    box->setObjectName(QLatin1String{name});
    box->setAccessibleName(accessible_name);
    box->setRange(1, most);
    connect(box, &QSpinBox::valueChanged, this, &RecordFormPage::take_change);
    return box;
  };
  mode_ = choice("mode", tr("Parallel mode"));
  for (const choices::Mode& mode : choices::modes) mode_->addItem(qt_text(mode.id));
  ranks_ = number("ranks", tr("Number of ranks"), most_ranks);
  model_ = choice("model", tr("Model"));
  model_->addItem(tr("default of the mode"), QString{});
  for (const std::string_view model : choices::models) model_->addItem(qt_text(model), qt_text(model));
  scale_ = choice("scale", tr("Scale of the model"));
  scale_->addItems({QStringLiteral("tiny"), QStringLiteral("full")});
  steps_ = number("steps", tr("Number of steps"), most_steps);
  fault_ = make_edit(QStringLiteral("fault"), tr("Faults"), tr("none; e.g. slow:rank=1,factor=1.5"));
  trainer_more_ =
      make_edit(QStringLiteral("trainer_more"), tr("Other options of the trainer"), tr("e.g. --global-batch 64"));
  add_row(*form, tr("Mo&de"), mode_);
  add_checked(*form, tr("Ra&nks"), ranks_, RecordField::ranks);
  add_row(*form, tr("Mode&l"), model_);
  add_row(*form, tr("Scal&e"), scale_);
  add_row(*form, tr("S&teps"), steps_);
  add_checked(*form, tr("&Faults"), fault_, RecordField::fault);
  add_checked(*form, tr("Other"), trainer_more_, RecordField::trainer_more);
  return part;
}

QWidget* RecordFormPage::with_browser(QLineEdit* edit, const QString& title) {
  auto* const around = new QWidget(this);
  auto* const row = new QHBoxLayout(around);
  row->setContentsMargins(0, 0, 0, 0);
  auto* const browse = new QPushButton(tr("Browse..."), around);
  browse->setAccessibleName(title);
  browse->setAutoDefault(false);
  row->addWidget(edit, 1);
  row->addWidget(browse);
  connect(browse, &QPushButton::clicked, this, [this, edit, title] {
    auto* const dialog = make_folder_dialog(this, title, folder_->text());
    connect(dialog, &QFileDialog::fileSelected, edit, [this, edit](const QString& name) {
      edit->setText(edit == out_ ? free_name(name + QStringLiteral("/run.rankscope"), {}) : name);
    });
    dialog->open();
  });
  return around;
}

QWidget* RecordFormPage::make_places() {
  auto* const part = new QWidget(this);
  auto* const form = new QFormLayout(part);
  folder_ = make_edit(QStringLiteral("folder"), tr("Working folder"));
  out_ = make_edit(QStringLiteral("out"), tr("Recording"), tr("run.rankscope"));
  add_checked(*form, tr("&Working folder"), folder_, RecordField::folder,
              with_browser(folder_, tr("Choose the working folder")));
  add_checked(*form, tr("Recordin&g"), out_, RecordField::out,
              with_browser(out_, tr("Choose the folder for the recording")));
  return part;
}

void RecordFormPage::add_boxes(QFormLayout& layout, const QString& title, std::span<const RecordFlag> all,
                               std::map<QString, QCheckBox*>& boxes) {
  constexpr int columns = 4;
  auto* const part = new QWidget(this);
  part->setAccessibleName(title);
  auto* const grid = new QGridLayout(part);
  grid->setContentsMargins(0, 0, 0, 0);
  int place = 0;
  for (const RecordFlag& flag : all) {
    QCheckBox* const box = boxes[qt_text(flag.id)] = box_of(flag, part);
    connect(box, &QCheckBox::toggled, this, &RecordFormPage::take_change);
    grid->addWidget(box, place / columns, place % columns);
    ++place;
  }
  layout.addRow(title, part);
}

QWidget* RecordFormPage::make_options() {
  auto* const part = new QWidget(this);
  auto* const form = new QFormLayout(part);
  add_boxes(*form, tr("Record"), record_flags(), flags_);
  add_boxes(*form, tr("Sources"), record_sources(), sources_);
  const auto number = [&](const char* name, const QString& accessible_name, double most, const QString& unit) {
    auto* const box = new QDoubleSpinBox(part);
    box->setObjectName(QLatin1String{name});
    box->setAccessibleName(accessible_name);
    box->setRange(0, most);
    box->setSuffix(unit);
    connect(box, &QDoubleSpinBox::valueChanged, this, &RecordFormPage::take_change);
    return box;
  };
  window_ = make_edit(QStringLiteral("window"), tr("Steps to record"), tr("every step; or wait,warmup,active,repeat"));
  sample_hz_ = number("sample_hz", tr("Host samples per second"), fastest_hz, tr(" per second"));
  duration_ = number("duration", tr("Record for at most"), longest_s, tr(" s"));
  duration_->setSpecialValueText(tr("until the end"));
  more_ = make_edit(QStringLiteral("more"), tr("Other recording options"), tr("e.g. --nccl proxy --ring-kib 16384"));
  add_checked(*form, tr("W&indow"), window_, RecordField::window);
  add_row(*form, tr("&Samples"), sample_hz_);
  add_row(*form, tr("D&uration"), duration_);
  add_checked(*form, tr("Ot&her options"), more_, RecordField::more);
  open_at_end_ = new QCheckBox(tr("&Open the recording if the run succeeds"), part);
  open_at_end_->setObjectName(QStringLiteral("open_at_end"));
  form->addRow(open_at_end_);
  return part;
}

QWidget* RecordFormPage::make_line() {
  auto* const part = new QWidget(this);
  auto* const row = new QHBoxLayout(part);
  row->setContentsMargins(0, 0, 0, 0);
  line_ = new QPlainTextEdit(part);
  line_->setObjectName(QStringLiteral("command_line"));
  line_->setAccessibleName(tr("The command line, to paste into a shell"));
  line_->setReadOnly(true);
  line_->setTabChangesFocus(true);
  line_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  line_->setFixedHeight(4 * fontMetrics().height());
  auto* const copy = new QPushButton(tr("&Copy"), part);
  copy->setObjectName(QStringLiteral("copy_line"));
  copy->setAccessibleName(tr("Copy the command line"));
  copy->setAutoDefault(false);
  connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(line_->toPlainText()); });
  row->addWidget(line_, 1);
  row->addWidget(copy);
  return part;
}

QWidget* RecordFormPage::make_buttons() {
  auto* const part = new QWidget(this);
  auto* const row = new QHBoxLayout(part);
  row->setContentsMargins(0, 0, 0, 0);
  auto* const start = new QPushButton(tr("St&art"), part);
  start->setObjectName(QStringLiteral("start"));
  start->setDefault(true);
  auto* const close = new QPushButton(tr("Close"), part);
  close->setObjectName(QStringLiteral("close_form"));
  close->setAutoDefault(false);
  row->addStretch(1);
  row->addWidget(start);
  row->addWidget(close);
  connect(start, &QPushButton::clicked, this, &RecordFormPage::startRequested);
  connect(close, &QPushButton::clicked, this, &RecordFormPage::closeRequested);
  return part;
}

RecordForm RecordFormPage::form() const {
  RecordForm form;
  form.what = static_cast<RecordWhat>(std::max(0, what_->currentIndex()));
  form.command = command_->text();
  form.trainer = {.mode = mode_->currentText(),
                  .ranks = ranks_->value(),
                  .model = model_->currentData().toString(),
                  .scale = scale_->currentText(),
                  .steps = steps_->value(),
                  .fault = fault_->text(),
                  .more = trainer_more_->text()};
  form.folder = folder_->text();
  form.out = out_->text();
  const auto is_checked = [](const auto& entry) { return entry.second->isChecked(); };
  const bool all = std::ranges::all_of(sources_, is_checked) || std::ranges::none_of(sources_, is_checked);
  for (const RecordFlag& source : record_sources())
    if (!all && sources_.at(qt_text(source.id))->isChecked()) form.collect.push_back(qt_text(source.id));
  for (const RecordFlag& flag : record_flags())
    if (flags_.at(qt_text(flag.id))->isChecked()) form.flags.push_back(qt_text(flag.id));
  form.window = window_->text();
  form.sample_hz = sample_hz_->value();
  form.duration_s = duration_->value();
  form.more = more_->text();
  form.open_at_end = open_at_end_->isChecked();
  return form;
}

void RecordFormPage::set_form(const RecordForm& form) {
  what_->setCurrentIndex(static_cast<int>(form.what));
  command_->setText(form.command);
  mode_->setCurrentText(form.trainer.mode);
  ranks_->setValue(form.trainer.ranks);
  model_->setCurrentIndex(std::max(0, model_->findData(form.trainer.model)));
  scale_->setCurrentText(form.trainer.scale);
  steps_->setValue(form.trainer.steps);
  fault_->setText(form.trainer.fault);
  trainer_more_->setText(form.trainer.more);
  folder_->setText(form.folder);
  out_->setText(form.out);
  for (const auto& [id, box] : sources_) box->setChecked(form.collect.isEmpty() || form.collect.contains(id));
  for (const auto& [id, box] : flags_) box->setChecked(form.flags.contains(id));
  window_->setText(form.window);
  sample_hz_->setValue(form.sample_hz);
  duration_->setValue(form.duration_s);
  more_->setText(form.more);
  open_at_end_->setChecked(form.open_at_end);
  asked_to_start_ = false;
  take_change();
}

void RecordFormPage::take_change() {
  if (said_ == nullptr) return;  // it is being made
  const RecordForm now = form();
  command_part_->setVisible(now.what != RecordWhat::trainer);
  trainer_part_->setVisible(now.what == RecordWhat::trainer);
  line_->setPlainText(command_line_of(now, program_));
  show_problems(problems_of(now));
}

void RecordFormPage::show_problems(const std::vector<RecordProblem>& problems) {
  for (const auto& [id, checked] : checked_) {
    const auto problem = std::ranges::find(problems, id, &RecordProblem::field);
    const auto* const edit = qobject_cast<QLineEdit*>(checked.field);
    const bool is_untouched = !asked_to_start_ && edit != nullptr && edit->text().isEmpty();
    const QString sentence = problem == problems.end() || is_untouched ? QString{} : problem->sentence;
    checked.problem->setText(sentence);
    checked.problem->setVisible(!sentence.isEmpty());
    checked.field->setAccessibleDescription(sentence);
  }
}

bool RecordFormPage::check() {
  asked_to_start_ = true;
  const auto problems = problems_of(form());
  show_problems(problems);
  if (problems.empty()) return true;
  checked_.at(problems.front().field).field->setFocus(Qt::OtherFocusReason);
  return false;
}

void RecordFormPage::say(const QString& sentence) {
  said_->setText(sentence);
  said_->setVisible(!sentence.isEmpty());
}

}  // namespace rankscope::gui
