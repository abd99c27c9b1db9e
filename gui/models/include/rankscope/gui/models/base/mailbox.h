// Hands things to do from any thread to one.
#pragma once

#include <QObject>
#include <deque>
#include <functional>
#include <mutex>

namespace rankscope::gui {

/// Letters are called in the thread of this object from its event loop, one an event, in the order in which they came;
/// those not called when it goes are dropped. They wait under a lock of ours rather than in Qt's queue of events, since
/// ThreadSanitizer sees no lock of a library that was built without it. Declare it before the threads that use it.
class Mailbox : public QObject {
  Q_OBJECT

 public:
  using Letter = std::function<void()>;

  explicit Mailbox(QObject* parent = nullptr) : QObject(parent) {
    connect(this, &Mailbox::came, this, &Mailbox::open, Qt::QueuedConnection);
  }

  /// From any thread.
  void put(Letter letter);

 Q_SIGNALS:
  void came();

 private:
  void open();

  std::mutex mutex_;
  std::deque<Letter> letters_;  // guarded by mutex_
};

}  // namespace rankscope::gui
