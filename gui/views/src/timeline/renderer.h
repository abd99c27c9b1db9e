// Paints scenes on a thread of its own; only the latest one matters.
#pragma once

#include <QObject>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "rankscope/gui/models/base/mailbox.h"
#include "timeline/scene.h"

namespace rankscope::gui {

/// A painted scene; `number` is that of its request.
struct Frame {
  std::uint64_t number = 0;
  QImage image;
  TimeRange time;
  double scroll = 0;
};

class Renderer : public QObject {
  Q_OBJECT

 public:
  explicit Renderer(QObject* parent = nullptr);
  ~Renderer() override;

  /// Takes the place of a request that was not begun. Returns its number; numbers ascend.
  std::uint64_t request(Scene scene, double scroll);

 Q_SIGNALS:
  /// In the thread of this object; frames that were overtaken by a newer request come, too.
  void painted(const rankscope::gui::Frame& frame);

 private:
  struct Request {
    std::uint64_t number;
    Scene scene;
    double scroll;
  };
  void work(const std::stop_token& stop);

  std::uint64_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Request> next_;  // guarded by mutex_
  Mailbox mailbox_;
  std::jthread thread_;  // last: it ends first
};

}  // namespace rankscope::gui
