#include "rankscope/gui/models/base/mailbox.h"

#include <utility>

namespace rankscope::gui {

void Mailbox::put(Letter letter) {
  {
    const std::lock_guard lock{mutex_};
    letters_.push_back(std::move(letter));
  }
  Q_EMIT came();
}

void Mailbox::open() {
  Letter letter;
  {
    const std::lock_guard lock{mutex_};
    letter = std::move(letters_.front());
    letters_.pop_front();
  }
  letter();  // may delete this
}

}  // namespace rankscope::gui
