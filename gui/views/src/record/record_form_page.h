// The form of a recording: what is to be run, where to, with which options, and the command line that comes of it.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>
#include <map>

#include "rankscope/gui/models/record/record_form.h"

namespace rankscope::gui {

/// What is wrong is said below its field; fields that are empty at first, when the user wants to start.
class RecordFormPage : public QWidget {
  Q_OBJECT

 public:
  /// `program`: how the command line names rankscope.
  explicit RecordFormPage(const QString& program, QWidget* parent = nullptr);

  [[nodiscard]] RecordForm form() const;
  void set_form(const RecordForm& form);
  /// True if there is nothing wrong; else the keyboard is in the first field that is.
  bool check();
  /// A sentence about the whole, such as a program that is missing; empty: none.
  void say(const QString& sentence);

 Q_SIGNALS:
  void startRequested();
  void closeRequested();

 private:
  QWidget* make_what();
  QWidget* make_trainer();
  QWidget* make_places();
  QWidget* make_options();
  QWidget* make_line();
  QWidget* make_buttons();
  void add_row(QFormLayout& layout, const QString& title, QWidget* field);
  /// With a place below it for what is wrong.
  void add_checked(QFormLayout& layout, const QString& title, QWidget* field, RecordField id,
                   QWidget* around = nullptr);
  QWidget* with_browser(QLineEdit* edit, const QString& title);
  void add_boxes(QFormLayout& layout, const QString& title, std::span<const RecordFlag> all,
                 std::map<QString, QCheckBox*>& boxes);
  QLineEdit* make_edit(const QString& name, const QString& accessible_name, const QString& placeholder = {});
  void watch(QWidget* field);
  void take_change();
  void show_problems(const std::vector<RecordProblem>& problems);

  struct Checked {
    QWidget* field = nullptr;
    QLabel* problem = nullptr;
  };
  QString program_;
  bool asked_to_start_ = false;
  std::map<RecordField, Checked> checked_;
  QComboBox* what_ = nullptr;
  QWidget* command_part_ = nullptr;
  QWidget* trainer_part_ = nullptr;
  QLineEdit* command_ = nullptr;
  QComboBox* mode_ = nullptr;
  QSpinBox* ranks_ = nullptr;
  QComboBox* model_ = nullptr;
  QComboBox* scale_ = nullptr;
  QSpinBox* steps_ = nullptr;
  QLineEdit* fault_ = nullptr;
  QLineEdit* trainer_more_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QLineEdit* out_ = nullptr;
  QLineEdit* window_ = nullptr;
  QDoubleSpinBox* sample_hz_ = nullptr;
  QDoubleSpinBox* duration_ = nullptr;
  QLineEdit* more_ = nullptr;
  std::map<QString, QCheckBox*> sources_;
  std::map<QString, QCheckBox*> flags_;
  QCheckBox* open_at_end_ = nullptr;
  QPlainTextEdit* line_ = nullptr;
  QLabel* said_ = nullptr;
};

}  // namespace rankscope::gui
