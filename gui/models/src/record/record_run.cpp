#include "rankscope/gui/models/record/record_run.h"

#include <signal.h>
#include <unistd.h>
#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "rankscope/core/recording/recording.h"

namespace rankscope::gui {
namespace {

constexpr int status_recorder_failed = 125;
constexpr int status_not_executable = 126;
constexpr int status_not_found = 127;
constexpr int status_of_signals = 128;

QString signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? QString::number(signal) : QStringLiteral("SIG") + QString::fromLatin1(name);
}

/// What the exit status of `rankscope record` says of the command.
QString sentence_of(int status) {
  if (status == 0) return RecordRun::tr("The command ended successfully.");
  if (status == status_recorder_failed)
    return RecordRun::tr("The command ended, but its recording is incomplete; the log says why.");
  if (status == status_not_executable) return RecordRun::tr("The command cannot be executed.");
  if (status == status_not_found) return RecordRun::tr("The command was not found.");
  if (status > status_of_signals)
    return RecordRun::tr("The command was ended by %1.").arg(signal_text(status - status_of_signals));
  return RecordRun::tr("The command ended with status %1.").arg(status);
}

namespace fs = std::filesystem;

/// A process is a child of that thread which forked it.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const fs::path threads = fs::path{"/proc"} / std::to_string(process) / "task";
  for (fs::directory_iterator thread{threads, error}, end; !error && thread != end; thread.increment(error)) {
    std::ifstream file{thread->path() / "children"};
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

/// All that a process has started and that still runs, without itself.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found = children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const pid_t child : children_of(found[i])) found.push_back(child);
  return found;
}

/// To the recorder, which passes it on to its command, and to those further down that are of its process group: each
/// gets it once, as by Ctrl-C. `recorder` must not have been waited for.
void signal_job(pid_t recorder, int signal) {
  const std::vector<pid_t> direct = children_of(recorder);
  const std::vector<pid_t> all = descendants_of(recorder);
  kill(recorder, signal);
  for (const pid_t process : all)
    if (std::ranges::find(direct, process) == direct.end() && getpgid(process) == recorder) kill(process, signal);
}

/// SIGKILL to all that the recorder has started, but not to it: it keeps what they recorded.
void kill_job(pid_t recorder) {
  for (const pid_t process : descendants_of(recorder)) kill(process, SIGKILL);
}

}  // namespace

void LogTail::append(const QByteArray& bytes) {
  const QString text = decoder_(bytes);
  for (const QChar sign : text) take(sign);
}

void LogTail::clear() { *this = LogTail{}; }

void LogTail::take(QChar sign) {
  constexpr char16_t escape = 0x1B;
  constexpr char16_t bell = 0x07;
  const char16_t code = sign.unicode();
  if (code == u'\n') escape_ = Escape::none;  // no sequence goes on in the next line
  switch (escape_) {
    case Escape::begun:
      escape_ = code == u'[' ? Escape::sequence : code == u']' ? Escape::title : Escape::none;
      return;
    case Escape::sequence:
      if (code >= 0x40 && code <= 0x7E) escape_ = Escape::none;
      return;
    case Escape::title:
      if (code == bell) escape_ = Escape::none;
      if (code == escape) escape_ = Escape::begun;  // its end is written with an escape, too
      return;
    case Escape::none:
      break;
  }
  if (code == escape) {
    escape_ = Escape::begun;
  } else if (code == u'\n') {
    end_line();
  } else if (code == u'\r') {
    returned_ = true;
  } else if (code == u'\t' || code >= 0x20) {
    if (std::exchange(returned_, false)) open_.clear();
    if (open_.size() < longest_line) open_.push_back(sign);
  }
}

void LogTail::end_line() {
  returned_ = false;
  lines_.push_back(std::exchange(open_, {}));
  if (lines_.size() <= most_lines) return;
  lines_.pop_front();
  ++first_;
}

Result<QString> find_rankscope() {
  const QFileInfo beside{QCoreApplication::applicationDirPath() + QStringLiteral("/rankscope")};
  if (beside.isFile() && beside.isExecutable()) return beside.absoluteFilePath();
  const QString found = QStandardPaths::findExecutable(QStringLiteral("rankscope"));
  if (!found.isEmpty()) return found;
  return fail(ErrorKind::cannot_write, "The program rankscope, which makes the recording, is neither in " +
                                           QCoreApplication::applicationDirPath().toStdString() +
                                           " nor in PATH; install it in the folder of the viewer.");
}

RecordRun::RecordRun(std::chrono::milliseconds patience, QObject* parent) : QObject(parent), grace_(patience) {
  process_.setProcessChannelMode(QProcess::MergedChannels);
  process_.setStandardInputFile(QProcess::nullDevice());
  // Ctrl-C in the terminal of the viewer is not meant for the job, and signal_job() tells its processes by their group.
  process_.setChildProcessModifier([] { setpgid(0, 0); });
  patience_.setSingleShot(true);
  connect(&patience_, &QTimer::timeout, this, &RecordRun::ask_harder);
  connect(&process_, &QProcess::readyReadStandardOutput, this, &RecordRun::read);
  connect(&process_, &QProcess::errorOccurred, this, &RecordRun::take_error);
  connect(&process_, &QProcess::finished, this, &RecordRun::take_end);
}

RecordRun::~RecordRun() {
  disconnect(&process_, nullptr, this, nullptr);
  if (process_.state() == QProcess::NotRunning) return;
  const auto job = static_cast<pid_t>(process_.processId());
  signal_job(job, SIGINT);
  if (!process_.waitForFinished(static_cast<int>(grace_.count()))) {
    kill_job(job);
    process_.waitForFinished(static_cast<int>(grace_.count()));
  }
  if (const auto settled = old_.settle(); !settled) qWarning("%s", settled.error().message.c_str());
}

Result<void> RecordRun::start(const RecordJob& job) {
  RS_CHECK(!is_running());
  const std::filesystem::path out = job.out.toStdString();
  old_ = {};
  if (in_the_way(out) != InTheWay::nothing) {
    RS_TRY(old_, PreviousRecording::move_aside(out));
  }
  job_ = job;
  log_.clear();
  is_good_ = false;
  lasted_ = {};
  clock_.start();
  set_stage(RunStage::running, tr("Running."));
  process_.setWorkingDirectory(job.folder);
  process_.start(job.program, job.arguments);
  return {};
}

void RecordRun::stop() {
  if (!is_running() || process_.processId() == 0) return;
  if (stage_ == RunStage::stopping) return ask_harder();
  set_stage(RunStage::stopping, tr("The job was asked to end, as with Ctrl-C in a terminal."));
  patience_.start(grace_);
  signal_job(static_cast<pid_t>(process_.processId()), SIGINT);
}

void RecordRun::ask_harder() {
  if (stage_ != RunStage::stopping || process_.processId() == 0) return;
  patience_.stop();
  sentence_ = tr("SIGTERM was sent to the job.");
  Q_EMIT stageChanged();
  signal_job(static_cast<pid_t>(process_.processId()), SIGTERM);
}

void RecordRun::kill_all() {
  if (!is_running() || process_.processId() == 0) return;
  patience_.stop();
  set_stage(RunStage::stopping, tr("The processes of the job were killed."));
  kill_job(static_cast<pid_t>(process_.processId()));
}

std::chrono::milliseconds RecordRun::elapsed() const {
  return is_running() ? std::chrono::milliseconds{clock_.elapsed()} : lasted_;
}

bool RecordRun::has_recording() const {
  return stage_ == RunStage::ended && recording::looks_like_recording(job_.out.toStdString());
}

void RecordRun::read() {
  log_.append(process_.readAllStandardOutput());
  Q_EMIT logged();
}

void RecordRun::take_error(QProcess::ProcessError error) {
  if (error != QProcess::FailedToStart) return;  // all others end in finished()
  end(tr("%1 cannot be started: %2.").arg(job_.program, process_.errorString()));
}

void RecordRun::take_end(int status, QProcess::ExitStatus how) {
  read();
  const bool was_stopped = stage_ == RunStage::stopping;
  if (how == QProcess::CrashExit)
    return end(tr("rankscope itself was ended by %1; `rankscope doctor` shows how to recover the recording.")
                   .arg(signal_text(status)));
  is_good_ = status == 0 && !was_stopped;
  end(was_stopped ? tr("Stopped. %1").arg(sentence_of(status)) : sentence_of(status));
}

void RecordRun::end(const QString& sentence) {
  patience_.stop();
  lasted_ = std::chrono::milliseconds{clock_.elapsed()};
  const auto settled = old_.settle();
  set_stage(RunStage::ended,
            settled ? sentence
                    : sentence + QLatin1Char{' '} + QString::fromStdString(settled.error().message) + QLatin1Char{'.'});
  if (!has_recording()) {
    is_good_ = false;
    sentence_ += QLatin1Char{' '} + tr("Nothing was recorded.");
    Q_EMIT stageChanged();
  }
  Q_EMIT ended();
}

void RecordRun::set_stage(RunStage stage, const QString& sentence) {
  stage_ = stage;
  sentence_ = sentence;
  Q_EMIT stageChanged();
}

}  // namespace rankscope::gui
