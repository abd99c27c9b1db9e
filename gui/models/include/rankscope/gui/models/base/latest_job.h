// Work away from the GUI thread of which only the newest counts.
#pragma once

#include <QObject>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "rankscope/gui/models/base/mailbox.h"

namespace rankscope::gui {

/// One piece of work at a time: what is asked while it runs waits behind it, and only the last of that is kept, so that
/// panning does not pile up work. Results are delivered in the thread of this object, stale ones never.
class LatestJob : public QObject {
  Q_OBJECT

 public:
  using Delivery = std::function<void()>;
  /// Runs in another thread, where it may not touch what the GUI thread changes; it should end soon once the token says
  /// so. What it returns is called in the thread of this object; it may be empty.
  using Work = std::function<Delivery(const std::stop_token& stop)>;
  using QObject::QObject;

  void start(Work work);
  /// Nothing is delivered any more until the next start.
  void cancel();
  [[nodiscard]] bool busy() const { return running_ || pending_; }

 private:
  void launch();
  void finish(std::uint64_t generation, const Delivery& delivery);

  std::uint64_t generation_ = 0;  // of what was asked last
  bool running_ = false;
  std::optional<Work> pending_;
  Mailbox mailbox_;
  std::jthread thread_;  // last: it ends before the rest
};

}  // namespace rankscope::gui
