// A command line as words, and words as a command line, with the quotes of a POSIX shell but without a shell.
#pragma once

#include <QStringList>

#include "rankscope/core/result.h"

namespace rankscope::gui {

/// Blanks separate words; '...' is taken as it is, in "..." a backslash is taken away before " \ $ and `, elsewhere
/// before any character. Nothing is expanded: an error (`usage`) names what a shell would have acted on, and open
/// quotes.
[[nodiscard]] Result<QStringList> words_of(const QString& line);

/// One line that a shell, and words_of(), read as exactly these words.
[[nodiscard]] QString shell_text(const QStringList& words);

}  // namespace rankscope::gui
