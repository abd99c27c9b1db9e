// One run of `rankscope record` or `train`, from its start to the sentence that says how it ended.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringDecoder>
#include <QTimer>
#include <chrono>
#include <deque>

#include "rankscope/core/result.h"
#include "rankscope/gui/models/record/previous_recording.h"

namespace rankscope::gui {

/// Bounded: old lines go, long ones are cut. A carriage return begins the line anew, as progress bars do.
class LogTail {
 public:
  static constexpr std::size_t most_lines = 5000;
  static constexpr qsizetype longest_line = 4000;

  void append(const QByteArray& bytes);
  void clear();

  /// Those that have ended; line n of all that were written stands at n - first().
  [[nodiscard]] const std::deque<QString>& lines() const { return lines_; }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t end() const { return first_ + lines_.size(); }
  /// What stands behind them; it may still change.
  [[nodiscard]] const QString& open_line() const { return open_; }

 private:
  /// How much of an escape sequence of a terminal has been read; sequences are left out of the lines.
  enum class Escape : std::uint8_t { none, begun, sequence, title };
  void take(QChar sign);
  void end_line();

  std::deque<QString> lines_;
  QString open_;
  std::uint64_t first_ = 0;
  bool returned_ = false;  // the next character is the first of the line again
  Escape escape_ = Escape::none;
  QStringDecoder decoder_{QStringDecoder::Utf8};
};

/// The program `rankscope` beside this one, else in PATH. Fails (`cannot_write`) with what to do.
[[nodiscard]] Result<QString> find_rankscope();

/// A process to start, without a shell.
struct RecordJob {
  QString program;        ///< rankscope
  QStringList arguments;  ///< of record or train
  QString folder;         ///< in which it runs
  QString out;            ///< absolute
};

/// How long a job has to end after it was asked to, before it is asked by SIGTERM.
inline constexpr std::chrono::milliseconds grace{15'000};

/// From start to end; a stage is never gone back to, except by the next job.
enum class RunStage : std::uint8_t {
  idle,  ///< nothing was started yet
  running,
  stopping,  ///< it was asked to end
  ended,
};

/// One recording as a process of its own: starts it, collects what it prints, and ends it in steps.
class RecordRun : public QObject {
  Q_OBJECT

 public:
  explicit RecordRun(std::chrono::milliseconds patience = grace, QObject* parent = nullptr);
  /// A job that still runs is asked to end, and waited for a little.
  ~RecordRun() override;

  /// A recording that is in the way is replaced. Only while nothing runs.
  [[nodiscard]] Result<void> start(const RecordJob& job);
  /// As Ctrl-C does; after the grace, and by the second call, SIGTERM.
  void stop();
  /// Ends all processes of the job at once; what they recorded is gathered.
  void kill_all();

  [[nodiscard]] RunStage stage() const { return stage_; }
  [[nodiscard]] bool is_running() const { return stage_ == RunStage::running || stage_ == RunStage::stopping; }
  [[nodiscard]] const RecordJob& job() const { return job_; }
  [[nodiscard]] const LogTail& log() const { return log_; }
  /// Until now, or its end.
  [[nodiscard]] std::chrono::milliseconds elapsed() const;
  /// What goes on, or how it ended.
  [[nodiscard]] QString sentence() const { return sentence_; }
  /// The command ended by itself, without a complaint.
  [[nodiscard]] bool ended_well() const { return stage_ == RunStage::ended && is_good_; }
  /// There is something to open.
  [[nodiscard]] bool has_recording() const;

 Q_SIGNALS:
  void stageChanged();
  void logged();
  void ended();

 private:
  void read();
  void take_error(QProcess::ProcessError error);
  void take_end(int status, QProcess::ExitStatus how);
  void end(const QString& sentence);
  void set_stage(RunStage stage, const QString& sentence);
  void ask_harder();

  std::chrono::milliseconds grace_;
  RecordJob job_;
  QProcess process_;
  QTimer patience_;
  QElapsedTimer clock_;
  std::chrono::milliseconds lasted_{0};
  LogTail log_;
  PreviousRecording old_;
  RunStage stage_ = RunStage::idle;
  QString sentence_;
  bool is_good_ = false;
};

}  // namespace rankscope::gui
