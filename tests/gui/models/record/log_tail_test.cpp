// What a program says, as it is shown.
#include <gtest/gtest.h>

#include "rankscope/gui/models/record/record_run.h"

namespace rankscope::gui {
namespace {

std::string shown(const LogTail& log) {
  std::string text;
  for (const QString& line : log.lines()) text += line.toStdString() + "\n";
  return text + log.open_line().toStdString();
}

TEST(LogTail, LinesAndLettersMayComeInPieces) {
  LogTail log;
  log.append("step 1\nst");
  EXPECT_EQ(shown(log), "step 1\nst");
  log.append("ep \xC3");
  log.append("\xA4\n");
  EXPECT_EQ(shown(log), "step 1\nstep \xC3\xA4\n");
}

TEST(LogTail, AProgressBarIsOneLine) {
  LogTail log;
  log.append("10 %\r20 %\r");
  EXPECT_EQ(shown(log), "20 %") << "it stands until something else is written there";
  log.append("30 %\r\ndone\r\n");
  EXPECT_EQ(shown(log), "30 %\ndone\n");
}

TEST(LogTail, ColoursAndTitlesOfTerminalsAreLeftOut) {
  LogTail log;
  log.append("\x1B[1;31mred\x1B[0m \x1B]0;title\x07plain \x1B]2;t\x1B\\end\a\n");
  EXPECT_EQ(shown(log), "red plain end\n");
}

TEST(LogTail, ASequenceThatIsNotClosedEndsWithItsLine) {
  LogTail log;
  log.append("a\x1B]0;binary\nb\x1B[12\nc\x1B\nd\n");
  EXPECT_EQ(shown(log), "a\nb\nc\nd\n");
}

TEST(LogTail, OldLinesGoAndLongOnesAreCut) {
  LogTail log;
  const std::uint64_t written = LogTail::most_lines + 10;
  for (std::uint64_t i = 0; i < written; ++i) log.append(QByteArray::number(static_cast<qulonglong>(i)) + '\n');
  EXPECT_EQ(log.lines().size(), LogTail::most_lines);
  EXPECT_EQ(log.first(), 10U);
  EXPECT_EQ(log.end(), written);
  EXPECT_EQ(log.lines().front().toStdString(), "10");
  log.append(QByteArray(2 * LogTail::longest_line, 'x'));
  EXPECT_EQ(log.open_line().size(), LogTail::longest_line);
  log.clear();
  EXPECT_EQ(log.end(), 0U);
  EXPECT_TRUE(log.open_line().isEmpty());
}

}  // namespace
}  // namespace rankscope::gui
