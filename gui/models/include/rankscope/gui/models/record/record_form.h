// What a user fills in to record a run, what is wrong with it, and the command line that comes of it.
#pragma once

#include <QSettings>
#include <QStringList>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope::gui {

/// How the line that the user typed becomes a process.
enum class RecordWhat : std::uint8_t {
  command,     ///< a program and its arguments, started as they are
  shell_line,  ///< a line for /bin/sh
  trainer,     ///< the reference trainer
};

/// The options of `rankscope train` that have a field of their own.
struct TrainerChoice {
  QString mode = QStringLiteral("ddp");
  int ranks = 2;
  QString model{};  ///< empty: what the mode takes by itself
  QString scale = QStringLiteral("tiny");
  int steps = 20;
  QString fault{};  ///< several are separated by blanks
  QString more{};   ///< other options, as in a command line
  bool operator==(const TrainerChoice&) const = default;
};

/// All fields of the dialog as they were filled in, right or wrong.
struct RecordForm {
  RecordWhat what = RecordWhat::command;
  QString command{};
  TrainerChoice trainer{};
  QString folder{};       ///< in which it runs
  QString out{};          ///< recording; relative to that folder, or absolute
  QStringList collect{};  ///< sources; empty: all
  QString window{};       ///< "wait,warmup,active,repeat"; empty: every step
  double sample_hz = 10;
  double duration_s = 0;  ///< 0: to the end
  QStringList flags{};    ///< of record_flags()
  QString more{};         ///< other options, as in a command line
  bool open_at_end = true;
  bool operator==(const RecordForm&) const = default;
};

/// A box to check: an option of `rankscope record`, or a source. core/choices.h has what else can be chosen.
struct RecordFlag {
  std::string_view id;  ///< an option is without its dashes
  std::string_view title;
};
[[nodiscard]] std::span<const RecordFlag> record_flags();
/// Those that are recorded by default.
[[nodiscard]] std::vector<RecordFlag> record_sources();

/// The fields beside which a problem can be shown.
enum class RecordField : std::uint8_t { command, ranks, fault, trainer_more, folder, out, window, more };
/// Why nothing can be started, in words for the user.
struct RecordProblem {
  RecordField field{};
  QString sentence;
};
/// Empty: it can be started. Looks at the file system.
[[nodiscard]] std::vector<RecordProblem> problems_of(const RecordForm& form);

/// Arguments of the program `rankscope`. Fields that cannot be read are left out.
[[nodiscard]] QStringList arguments_of(const RecordForm& form);
/// The same as a line for a shell: with `program`, behind a change to the working folder.
[[nodiscard]] QString command_line_of(const RecordForm& form, const QString& program);
[[nodiscard]] QString absolute_out(const RecordForm& form);

void keep(QSettings& settings, const RecordForm& form);
/// What was kept; where nothing was, the working folder is the current one. `out` is a name that is free.
[[nodiscard]] RecordForm kept_form(QSettings& settings);

/// "run.rankscope", "run-2.rankscope", ...: the first that is not there yet. `folder` is for relative names.
[[nodiscard]] QString free_name(const QString& out, const QString& folder);

}  // namespace rankscope::gui
