// Command lines as they are typed.
#include <gtest/gtest.h>

#include <QProcess>

#include "rankscope/gui/models/record/command_words.h"

namespace rankscope::gui {
namespace {

QStringList words(const char* line) { return words_of(QString::fromUtf8(line)).value_or(QStringList{}); }

std::string wrong(const char* line) {
  const auto read = words_of(QString::fromUtf8(line));
  return read ? "nothing is wrong" : read.error().message;
}

TEST(CommandWords, BlanksSeparateAndQuotesKeepThem) {
  EXPECT_EQ(words("  python \t train.py  --lr 0.1\n"),
            (QStringList{QStringLiteral("python"), QStringLiteral("train.py"), QStringLiteral("--lr"),
                         QStringLiteral("0.1")}));
  EXPECT_EQ(words(R"('a b' "c d"e\ f '' "\"\\\x")"),
            (QStringList{QStringLiteral("a b"), QStringLiteral("c de f"), QString{}, QStringLiteral(R"("\\x)")}));
  EXPECT_EQ(words("one \\\n two"), (QStringList{QStringLiteral("one"), QStringLiteral("two")}));
  EXPECT_EQ(words(""), QStringList{});
}

TEST(CommandWords, WhatAShellWouldActOnIsRefusedAndNamed) {
  EXPECT_EQ(wrong("python train.py | tee log"),
            "a shell would interpret '|'; run the line in a shell, or put this character in single quotes");
  for (const char* const line : {"a && b", "a > b", "echo $HOME", "echo \"$HOME\"", "ls *.py", "cd ~/x", "# no", "`x`"})
    EXPECT_TRUE(wrong(line).starts_with("a shell would interpret")) << line;
  EXPECT_EQ(words("a#b x~y '$HOME | *' \\$"), (QStringList{QStringLiteral("a#b"), QStringLiteral("x~y"),
                                                           QStringLiteral("$HOME | *"), QStringLiteral("$")}));
}

TEST(CommandWords, OpenQuotesAreSaid) {
  EXPECT_EQ(wrong("python 'train.py"), "a single quote is not closed");
  EXPECT_EQ(wrong("python \"train.py"), "a double quote is not closed");
  EXPECT_EQ(wrong("python \\"), "nothing follows the last backslash");
}

TEST(CommandWords, WhatIsWrittenIsReadAgainByUsAndByAShell) {
  const QStringList all{QStringLiteral("printf"),  QStringLiteral("%s\\n"),  QString{},
                        QStringLiteral("it's"),    QStringLiteral("a b\tc"), QStringLiteral("$x `y` \"z\" \\"),
                        QStringLiteral("--a=b,c"), QStringLiteral("äö *"),   QStringLiteral("#~!{}")};
  EXPECT_EQ(words_of(shell_text(all)), all);
  QProcess shell;
  shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), shell_text(all)});
  ASSERT_TRUE(shell.waitForFinished());
  EXPECT_EQ(QString::fromUtf8(shell.readAllStandardOutput()), all.mid(2).join(QLatin1Char{'\n'}) + QLatin1Char{'\n'});
  EXPECT_EQ(shell_text({QStringLiteral("torchrun"), QStringLiteral("--nproc-per-node=4"), QStringLiteral("a.py")}),
            QStringLiteral("torchrun --nproc-per-node=4 a.py"));
}

}  // namespace
}  // namespace rankscope::gui
