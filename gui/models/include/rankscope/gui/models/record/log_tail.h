// The last lines that a program wrote, as a terminal would show them without its colours.
#pragma once

#include <QString>
#include <QStringDecoder>
#include <deque>

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

}  // namespace rankscope::gui
