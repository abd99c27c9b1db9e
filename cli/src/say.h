// What the program says on stderr: errors in one form, progress as a bar on a terminal and as lines elsewhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::cli {

// Paths and names of others come out printable(): no escape code in them reaches the terminal.

/// Prints "rankscope: <message>" and returns the exit status of the error: 128 + n if signal n came, since work that is
/// cancelled fails.
int say(const Error& error);
/// The same for options that cannot be parsed; points to --help of the verb. Returns 2.
int say_usage_error(std::string_view message, std::string_view verb);
void say(std::string_view message);

[[nodiscard]] bool stderr_is_terminal();
[[nodiscard]] bool stdout_is_terminal();

/// Writes all of `text` to stdout. A closed pipe is no error of ours; a full disk is.
[[nodiscard]] Result<void> print(std::string_view text);

/// Progress of one piece of work; prints nothing if it ends within half a second.
[[nodiscard]] std::function<bool(double)> progress_of(std::string_view what);

}  // namespace rankscope::cli
