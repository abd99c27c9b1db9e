#include "rankscope/gui/models/record/log_tail.h"

#include <utility>

namespace rankscope::gui {

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

}  // namespace rankscope::gui
