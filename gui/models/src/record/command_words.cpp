#include "rankscope/gui/models/record/command_words.h"

#include <algorithm>

#include "rankscope/core/format.h"

namespace rankscope::gui {
namespace {

const QString acted_on = QStringLiteral("|&;<>()$`*?[");
const QString acted_on_at_begin = QStringLiteral("~#");
const QString acted_on_in_quotes = QStringLiteral("$`");
const QString escaped_in_quotes = QStringLiteral("\"\\$`");

tl::unexpected<Error> wants_shell(QChar sign) {
  return fail(ErrorKind::usage,
              format("a shell would interpret '{}'; run the line in a shell, or put this character in single quotes",
                     QString{sign}.toStdString()));
}

class Splitter {
 public:
  explicit Splitter(const QString& line) : line_(line) {}

  Result<QStringList> split() {
    while (at_ < line_.size()) {
      const QChar sign = line_[at_++];
      if (sign == QLatin1Char{'\''}) {
        RS_TRY_VOID(take_single());
      } else if (sign == QLatin1Char{'"'}) {
        RS_TRY_VOID(take_double());
      } else if (sign == QLatin1Char{'\\'}) {
        if (at_ == line_.size()) return fail(ErrorKind::usage, "nothing follows the last backslash");
        if (const QChar next = line_[at_++]; next != QLatin1Char{'\n'}) add(next);  // else the line goes on
      } else if (sign.isSpace()) {
        end_word();
      } else if (acted_on.contains(sign) || (!in_word_ && acted_on_at_begin.contains(sign))) {
        return wants_shell(sign);
      } else {
        add(sign);
      }
    }
    end_word();
    return words_;
  }

 private:
  Result<void> take_single() {
    const qsizetype end = line_.indexOf(QLatin1Char{'\''}, at_);
    if (end < 0) return fail(ErrorKind::usage, "a single quote is not closed");
    word_ += line_.mid(at_, end - at_);
    in_word_ = true;
    at_ = end + 1;
    return {};
  }

  Result<void> take_double() {
    in_word_ = true;
    while (at_ < line_.size()) {
      QChar sign = line_[at_++];
      if (sign == QLatin1Char{'"'}) return {};
      if (acted_on_in_quotes.contains(sign)) return wants_shell(sign);
      if (sign == QLatin1Char{'\\'} && at_ < line_.size() && escaped_in_quotes.contains(line_[at_]))
        sign = line_[at_++];
      word_ += sign;
    }
    return fail(ErrorKind::usage, "a double quote is not closed");
  }

  void add(QChar sign) {
    word_ += sign;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  const QString& line_;
  qsizetype at_ = 0;
  QString word_;
  bool in_word_ = false;  // also of a word that is empty: ''
  QStringList words_;
};

bool is_plain(QChar sign) {
  return (sign.unicode() < 128 && sign.isLetterOrNumber()) || QStringLiteral("_-+=:,./@%").contains(sign);
}

}  // namespace

Result<QStringList> words_of(const QString& line) { return Splitter{line}.split(); }

QString shell_text(const QStringList& words) {
  QStringList quoted;
  for (const QString& word : words) {
    QString text = word;
    if (word.isEmpty() || !std::ranges::all_of(word, is_plain))
      text = QLatin1Char{'\''} + text.replace(QLatin1Char{'\''}, QStringLiteral("'\\''")) + QLatin1Char{'\''};
    quoted.push_back(text);
  }
  return quoted.join(QLatin1Char{' '});
}

}  // namespace rankscope::gui
