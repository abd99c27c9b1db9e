// What can be told of a run while it is recorded.
#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>
#include <filesystem>
#include <memory>

#include "rankscope/core/recording/live.h"
#include "rankscope/gui/models/base/latest_job.h"

namespace rankscope::gui {

/// Some numbers of the last steps of a process.
struct LiveSummary {
  std::optional<nanoseconds> last{};            ///< duration of the last step
  std::optional<nanoseconds> median{};          ///< of those that are kept
  std::optional<recording::LiveSplit> split{};  ///< mean of the last steps whose split is known
};
[[nodiscard]] LiveSummary summary_of(const recording::LiveProcess& process);

/// "rank 3", or program and process id.
[[nodiscard]] QString name_of(const recording::LiveProcess& process);
/// The latest value of a counter in bytes; nothing where it was not recorded.
[[nodiscard]] std::optional<double> latest(const recording::LiveProcess& process, std::string_view counter);
/// True for a counter of a device, false for one of the host.
[[nodiscard]] bool is_of_device(std::string_view counter);
/// Why something is not to be seen yet; empty where all is.
[[nodiscard]] QString note_of(const recording::LiveView& view);

/// Looks at the recording now and then, in another thread.
class LivePreview : public QObject {
  Q_OBJECT

 public:
  static constexpr std::chrono::milliseconds period{500};
  explicit LivePreview(std::chrono::milliseconds every = period, QObject* parent = nullptr);

  /// Of a recording that is about to be made. What was shown goes.
  void start(const std::filesystem::path& recording);
  /// One look more, then none.
  void finish();

  /// Never null.
  [[nodiscard]] const std::shared_ptr<const recording::LiveView>& view() const { return view_; }

 Q_SIGNALS:
  void changed();

 private:
  void look();

  std::shared_ptr<recording::LiveReader> reader_;  // used by one piece of work at a time
  std::shared_ptr<const recording::LiveView> view_;
  QTimer timer_;
  bool is_last_ = false;
  LatestJob job_;  // last: its thread ends first
};

}  // namespace rankscope::gui
