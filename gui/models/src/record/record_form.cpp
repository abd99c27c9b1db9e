#include "rankscope/gui/models/record/record_form.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <algorithm>
#include <array>
#include <optional>

#include "rankscope/core/choices.h"
#include "rankscope/core/numbers.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/record/command_words.h"
#include "rankscope/gui/models/record/previous_recording.h"

namespace rankscope::gui {
namespace {

constexpr std::array flags{
    RecordFlag{"no-pytorch", "No data from PyTorch (operators, steps, collectives on Gloo, lines of code)"},
    RecordFlag{"shapes", "Shapes of operator inputs"},
    RecordFlag{"memory", "Each allocation and release"},
    RecordFlag{"stack", "Where operators were called from"},
    RecordFlag{"modules", "A range for each module"},
    RecordFlag{"no-follow", "Only the command itself, not the processes that it starts"},
    RecordFlag{"no-preload", "Without LD_PRELOAD"},
    RecordFlag{"verbose", "Print more messages"},
};
const QString group = QStringLiteral("record");
const QString first_name = QStringLiteral("run.rankscope");

QString number_text(double number) { return QString::number(number, 'g', 12); }

QStringList readable(const QString& line) { return words_of(line).value_or(QStringList{}); }

QStringList trainer_arguments(const TrainerChoice& choice) {
  QStringList words{QStringLiteral("--parallel"), choice.mode, QStringLiteral("--ranks"),
                    QString::number(choice.ranks)};
  if (!choice.model.isEmpty()) words << QStringLiteral("--model") << choice.model;
  words << QStringLiteral("--scale") << choice.scale << QStringLiteral("--steps") << QString::number(choice.steps);
  for (const QString& fault : readable(choice.fault)) words << QStringLiteral("--fault") << fault;
  return words + readable(choice.more);
}

QStringList record_arguments(const RecordForm& form) {
  QStringList words;
  if (!form.out.isEmpty()) words << QStringLiteral("--out") << form.out;
  if (!form.collect.isEmpty()) words << QStringLiteral("--collect") << form.collect.join(QLatin1Char{','});
  if (!form.window.isEmpty()) words << QStringLiteral("--window") << form.window;
  if (form.sample_hz != RecordForm{}.sample_hz) words << QStringLiteral("--sample-hz") << number_text(form.sample_hz);
  if (form.duration_s > 0) words << QStringLiteral("--duration") << number_text(form.duration_s);
  for (const RecordFlag& flag : flags)
    if (form.flags.contains(qt_text(flag.id))) words << QStringLiteral("--") + qt_text(flag.id);
  return words + readable(form.more);
}

QString tr(const char* text) { return QCoreApplication::translate("RecordForm", text); }

/// "a single quote is not closed" -> "A single quote is not closed."
QString sentence_of(const Error& error) {
  QString text = QString::fromStdString(error.message);
  text[0] = text[0].toUpper();
  return text + QLatin1Char{'.'};
}

/// Empty: it can be started.
QString why_no_program(const QString& program, const QString& folder) {
  if (!program.contains(QLatin1Char{'/'}))
    return QStandardPaths::findExecutable(program).isEmpty() ? tr("Program '%1' was not found in PATH.").arg(program)
                                                             : QString{};
  const QFileInfo file{QDir{folder}.absoluteFilePath(program)};
  if (!file.exists()) return tr("File %1 does not exist.").arg(file.absoluteFilePath());
  return file.isFile() && file.isExecutable() ? QString{}
                                              : tr("%1 is not an executable program.").arg(file.absoluteFilePath());
}

QString why_no_command(const RecordForm& form) {
  const QString nothing = tr("Enter the command to run, e.g. torchrun --nproc-per-node 4 train.py");
  if (form.command.trimmed().isEmpty()) return nothing;
  if (form.what == RecordWhat::shell_line) return {};
  const auto words = words_of(form.command);
  if (!words) return sentence_of(words.error());
  if (words->isEmpty()) return nothing;
  static const QRegularExpression variable{QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*=")};
  if (variable.match(words->front()).hasMatch())
    return tr("'%1' sets a variable, which only a shell can do; run the line in a shell, or put env before it.")
        .arg(words->front());
  return why_no_program(words->front(), form.folder);
}

QString why_no_ranks(const TrainerChoice& choice) {
  const auto mode = std::ranges::find(choices::modes, choice.mode.toStdString(), &choices::Mode::id);
  if (mode != choices::modes.end() && mode->one_rank && choice.ranks != 1)
    return tr("Mode %1 runs on one rank; set the number of ranks to 1.").arg(choice.mode);
  return {};
}

/// Reads the rank in "slow:factor=1.5,rank=2"; nothing if the text is not a fault. Which keys a fault must have is left
/// to the trainer.
std::optional<std::int64_t> rank_of_fault(std::string_view fault) {
  const std::size_t colon = fault.find(':');
  if (colon == std::string_view::npos || std::ranges::count(choices::faults, fault.substr(0, colon)) == 0)
    return std::nullopt;
  std::optional<std::int64_t> rank;
  for (std::size_t at = colon; at != std::string_view::npos;) {
    const std::size_t comma = fault.find(',', at + 1);
    const std::string_view part = fault.substr(at + 1, comma == std::string_view::npos ? comma : comma - at - 1);
    at = comma;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || !number_from<double>(part.substr(equals + 1))) return std::nullopt;
    if (part.substr(0, equals) != "rank") continue;
    if (rank) return std::nullopt;
    rank = number_from<std::int64_t>(part.substr(equals + 1), {.least = 0});
    if (!rank) return std::nullopt;
  }
  return rank;
}

QString why_no_fault(const TrainerChoice& choice) {
  const auto wanted = words_of(choice.fault);
  if (!wanted) return sentence_of(wanted.error());
  for (const QString& fault : *wanted) {
    const auto rank = rank_of_fault(fault.toStdString());
    if (!rank) return tr("'%1' is not a fault; write e.g. slow:rank=1,factor=1.5").arg(fault);
    if (*rank >= choice.ranks)
      return tr("'%1' is for a rank that does not exist; the ranks are 0 to %2.").arg(fault).arg(choice.ranks - 1);
  }
  return {};
}

QString why_no_folder(const RecordForm& form) {
  if (form.folder.isEmpty()) return tr("Enter the folder to run in.");
  const QFileInfo folder{form.folder};
  if (!folder.isAbsolute()) return tr("Enter the full path of the folder.");
  return folder.isDir() ? QString{} : tr("Folder %1 does not exist.").arg(form.folder);
}

QString why_no_out(const RecordForm& form) {
  if (form.out.isEmpty()) return tr("Enter the folder to record into, e.g. run.rankscope");
  const QString out = absolute_out(form);
  const QFileInfo parent{QFileInfo{out}.path()};
  if (!parent.isDir()) return tr("Folder %1 does not exist.").arg(parent.filePath());
  if (!parent.isWritable()) return tr("%1 cannot be written to.").arg(parent.filePath());
  switch (in_the_way(out.toStdString())) {
    case InTheWay::nothing:
    case InTheWay::recording:
      return {};
    case InTheWay::unfinished:
      return tr("%1 is still being recorded, or its recorder was killed; choose another name.").arg(out);
    case InTheWay::other:
      return tr("%1 exists and is not a recording; choose another name.").arg(out);
  }
  return {};
}

QString why_no_window(const QString& text) {
  static const QRegularExpression numbers{QStringLiteral("^\\d{1,9},\\d{1,9},0*[1-9]\\d{0,8}(,\\d{1,9})?$")};
  if (text.isEmpty() || numbers.match(text).hasMatch()) return {};
  return tr("Write wait,warmup,active,repeat as whole numbers, such as 10,2,5,1; active must be at least 1.");
}

/// Options that have a field of their own, or after which nothing is recorded.
QString why_not_more(const QString& line) {
  constexpr std::array own{"--out", "--recover", "--no-record", "--explain", "--help", "-h", "--"};
  const auto words = words_of(line);
  if (!words) return sentence_of(words.error());
  for (const QString& word : *words)
    for (const char* const option : own)
      if (word == QLatin1String{option} || word.startsWith(QLatin1String{option} + QLatin1Char{'='}))
        return tr("%1 cannot be used in this dialog.").arg(QLatin1String{option});
  if (!words->isEmpty() && !words->front().startsWith(QLatin1Char{'-'}))
    return tr("'%1' is not an option.").arg(words->front());
  return {};
}

}  // namespace

std::span<const RecordFlag> record_flags() { return flags; }

std::vector<RecordFlag> record_sources() {
  std::vector<RecordFlag> sources;
  for (const choices::Source& source : choices::sources)
    if (source.by_default) sources.push_back({source.id, source.summary});
  return sources;
}

QStringList arguments_of(const RecordForm& form) {
  QStringList words{form.what == RecordWhat::trainer ? QStringLiteral("train") : QStringLiteral("record")};
  words += record_arguments(form);
  switch (form.what) {
    case RecordWhat::command:
      return words << QStringLiteral("--") << readable(form.command);
    case RecordWhat::shell_line:
      return words << QStringLiteral("--") << QStringLiteral("/bin/sh") << QStringLiteral("-c") << form.command;
    case RecordWhat::trainer:
      return words + trainer_arguments(form.trainer);
  }
  return words;
}

QString command_line_of(const RecordForm& form, const QString& program) {
  const QString line = shell_text(QStringList{program} + arguments_of(form));
  if (form.folder.isEmpty()) return line;
  return QStringLiteral("cd %1 && %2").arg(shell_text({form.folder}), line);
}

QString absolute_out(const RecordForm& form) { return QDir::cleanPath(QDir{form.folder}.absoluteFilePath(form.out)); }

void keep(QSettings& settings, const RecordForm& form) {
  settings.beginGroup(group);
  settings.setValue(QStringLiteral("what"), static_cast<int>(form.what));
  settings.setValue(QStringLiteral("command"), form.command);
  settings.setValue(QStringLiteral("mode"), form.trainer.mode);
  settings.setValue(QStringLiteral("ranks"), form.trainer.ranks);
  settings.setValue(QStringLiteral("model"), form.trainer.model);
  settings.setValue(QStringLiteral("scale"), form.trainer.scale);
  settings.setValue(QStringLiteral("steps"), form.trainer.steps);
  settings.setValue(QStringLiteral("fault"), form.trainer.fault);
  settings.setValue(QStringLiteral("trainer_more"), form.trainer.more);
  settings.setValue(QStringLiteral("folder"), form.folder);
  settings.setValue(QStringLiteral("out"), form.out);
  settings.setValue(QStringLiteral("collect"), form.collect);
  settings.setValue(QStringLiteral("window"), form.window);
  settings.setValue(QStringLiteral("sample_hz"), form.sample_hz);
  settings.setValue(QStringLiteral("duration_s"), form.duration_s);
  settings.setValue(QStringLiteral("flags"), form.flags);
  settings.setValue(QStringLiteral("more"), form.more);
  settings.setValue(QStringLiteral("open_at_end"), form.open_at_end);
  settings.endGroup();
}

RecordForm kept_form(QSettings& settings) {
  RecordForm form;
  settings.beginGroup(group);
  const auto text = [&settings](const char* key, const QString& otherwise) {
    return settings.value(QLatin1String{key}, otherwise).toString();
  };
  const auto number = [&settings](const char* key, auto otherwise) {
    return settings.value(QLatin1String{key}, otherwise).template value<decltype(otherwise)>();
  };
  const int what = number("what", 0);
  if (what >= 0 && what <= static_cast<int>(RecordWhat::trainer)) form.what = static_cast<RecordWhat>(what);
  form.command = text("command", {});
  form.trainer.mode = text("mode", form.trainer.mode);
  form.trainer.ranks = number("ranks", form.trainer.ranks);
  form.trainer.model = text("model", {});
  form.trainer.scale = text("scale", form.trainer.scale);
  form.trainer.steps = number("steps", form.trainer.steps);
  form.trainer.fault = text("fault", {});
  form.trainer.more = text("trainer_more", {});
  form.folder = text("folder", QDir::currentPath());
  form.collect = settings.value(QStringLiteral("collect")).toStringList();
  form.window = text("window", {});
  form.sample_hz = number("sample_hz", form.sample_hz);
  form.duration_s = number("duration_s", form.duration_s);
  form.flags = settings.value(QStringLiteral("flags")).toStringList();
  form.more = text("more", {});
  form.open_at_end = number("open_at_end", form.open_at_end);
  form.out = free_name(text("out", first_name), form.folder);
  settings.endGroup();
  return form;
}

QString free_name(const QString& out, const QString& folder) {
  const QDir base{folder};
  const QFileInfo info{out};
  QString stem = info.completeBaseName();
  if (const qsizetype dash = stem.lastIndexOf(QLatin1Char{'-'}); dash > 0) {  // of an earlier answer
    if (number_from<std::uint32_t>(stem.mid(dash + 1).toStdString())) stem.truncate(dash);
  }
  const QString before = out.left(out.size() - info.fileName().size());
  const QString suffix = info.suffix().isEmpty() ? QString{} : QLatin1Char{'.'} + info.suffix();
  QString name = out;
  for (int number = 2; QFileInfo{base.absoluteFilePath(name)}.exists(); ++number)
    name = QStringLiteral("%1%2-%3%4").arg(before, stem).arg(number).arg(suffix);
  return name;
}

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
