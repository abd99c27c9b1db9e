// What is wrong with a form, said before anything is started.
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <algorithm>
#include <array>

#include "rankscope/gui/models/command_words.h"
#include "rankscope/gui/models/old_recording.h"
#include "rankscope/gui/models/record_form.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("RecordForm", text); }

/// "a ' is not closed" -> "A ' is not closed."
QString sentence_of(const Error& error) {
  QString text = QString::fromStdString(error.message);
  text[0] = text[0].toUpper();
  return text + QLatin1Char{'.'};
}

/// Empty: it can be started.
QString why_no_program(const QString& program, const QString& folder) {
  if (!program.contains(QLatin1Char{'/'}))
    return QStandardPaths::findExecutable(program).isEmpty() ? tr("There is no program '%1' in PATH.").arg(program)
                                                             : QString{};
  const QFileInfo file{QDir{folder}.absoluteFilePath(program)};
  if (!file.exists()) return tr("There is no file %1.").arg(file.absoluteFilePath());
  return file.isFile() && file.isExecutable() ? QString{} : tr("%1 is no program.").arg(file.absoluteFilePath());
}

QString why_no_command(const RecordForm& form) {
  const QString nothing = tr("Say what is to be run, e.g. torchrun --nproc-per-node 4 train.py");
  if (form.command.trimmed().isEmpty()) return nothing;
  if (form.what == RecordWhat::shell_line) return {};
  const auto words = words_of(form.command);
  if (!words) return sentence_of(words.error());
  if (words->isEmpty()) return nothing;
  static const QRegularExpression variable{QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*=")};
  if (variable.match(words->front()).hasMatch())
    return tr("Only a shell sets variables with '%1'; run the line in a shell, or begin it with env.")
        .arg(words->front());
  return why_no_program(words->front(), form.folder);
}

QString why_no_ranks(const TrainerChoice& choice) {
  const auto modes = trainer_modes();
  const auto mode = std::ranges::find_if(modes, [&](const TrainerMode& one) { return qt_text(one.id) == choice.mode; });
  if (mode != modes.end() && mode->one_rank && choice.ranks != 1) return tr("%1 runs on one rank.").arg(choice.mode);
  return {};
}

QString why_no_fault(const TrainerChoice& choice) {
  static const QRegularExpression form{QStringLiteral("^([a-z]+):rank=(\\d+)(,[a-z]+=[0-9.]+)*$")};
  const auto faults = words_of(choice.fault);
  if (!faults) return sentence_of(faults.error());
  for (const QString& fault : *faults) {
    const auto match = form.match(fault);
    const auto is_kind = [&](std::string_view kind) { return qt_text(kind) == match.captured(1); };
    if (!match.hasMatch() || std::ranges::none_of(fault_kinds(), is_kind))
      return tr("'%1' is no fault; write e.g. slow:rank=1,factor=1.5").arg(fault);
    if (match.captured(2).toLongLong() >= choice.ranks)
      return tr("'%1' is of a rank that there is not; ranks are 0 to %2.").arg(fault).arg(choice.ranks - 1);
  }
  return {};
}

QString why_no_folder(const RecordForm& form) {
  if (form.folder.isEmpty()) return tr("Name the folder in which it is to run.");
  const QFileInfo folder{form.folder};
  if (!folder.isAbsolute()) return tr("Give the whole path of the folder.");
  return folder.isDir() ? QString{} : tr("There is no folder %1.").arg(form.folder);
}

QString why_no_out(const RecordForm& form) {
  if (form.out.isEmpty()) return tr("Name the folder to record into, e.g. run.rankscope");
  const QString out = absolute_out(form);
  const QFileInfo parent{QFileInfo{out}.path()};
  if (!parent.isDir()) return tr("There is no folder %1.").arg(parent.filePath());
  if (!parent.isWritable()) return tr("%1 cannot be written to.").arg(parent.filePath());
  switch (in_the_way(out.toStdString())) {
    case InTheWay::nothing:
    case InTheWay::recording:
      return {};
    case InTheWay::unfinished:
      return tr("It is still being recorded into %1, or its recorder was killed; give another name.").arg(out);
    case InTheWay::other:
      return tr("%1 is there and is no recording; give another name.").arg(out);
  }
  return {};
}

QString why_no_window(const QString& text) {
  static const QRegularExpression numbers{QStringLiteral("^\\d{1,9},\\d{1,9},0*[1-9]\\d{0,8}(,\\d{1,9})?$")};
  if (text.isEmpty() || numbers.match(text).hasMatch()) return {};
  return tr("Write wait,warmup,active,repeat in steps, such as 10,2,5,1, with active at least 1.");
}

/// Options that have a field of their own, or after which nothing is recorded.
QString why_not_more(const QString& line) {
  constexpr std::array own{"--out", "--recover", "--no-record", "--explain", "--help", "-h", "--"};
  const auto words = words_of(line);
  if (!words) return sentence_of(words.error());
  for (const QString& word : *words)
    for (const char* const option : own)
      if (word == QLatin1String{option} || word.startsWith(QLatin1String{option} + QLatin1Char{'='}))
        return tr("%1 cannot be given here.").arg(QLatin1String{option});
  if (!words->isEmpty() && !words->front().startsWith(QLatin1Char{'-'}))
    return tr("'%1' is no option.").arg(words->front());
  return {};
}

}  // namespace

std::vector<RecordProblem> problems_of(const RecordForm& form) {
  std::vector<RecordProblem> problems;
  const auto add = [&problems](RecordField field, const QString& sentence) {
    if (!sentence.isEmpty()) problems.push_back({field, sentence});
  };
  if (form.what == RecordWhat::trainer) {
    add(RecordField::ranks, why_no_ranks(form.trainer));
    add(RecordField::fault, why_no_fault(form.trainer));
    add(RecordField::trainer_more, why_not_more(form.trainer.more));
  } else {
    add(RecordField::command, why_no_command(form));
  }
  const QString folder = why_no_folder(form);
  add(RecordField::folder, folder);
  if (folder.isEmpty()) add(RecordField::out, why_no_out(form));
  add(RecordField::window, why_no_window(form.window));
  add(RecordField::more, why_not_more(form.more));
  return problems;
}

}  // namespace rankscope::gui
