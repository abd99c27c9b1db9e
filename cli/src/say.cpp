#include "say.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "interrupt.h"
#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"

namespace rankscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int bar_width = 30;

struct ProgressState {
  std::string what;
  Clock::time_point begin = Clock::now();
  int last_tenth = -1;
  bool drawn = false;
};

void draw_bar(const ProgressState& state, double done) {
  const int filled = static_cast<int>(done * bar_width);
  std::fprintf(stderr, "\r%s [%s%s] %3d %%", state.what.c_str(),
               std::string(static_cast<std::size_t>(filled), '#').c_str(),
               std::string(static_cast<std::size_t>(bar_width - filled), ' ').c_str(), static_cast<int>(done * 100));
  if (done >= 1) std::fputc('\n', stderr);
}

void tell(ProgressState& state, double done) {
  if (Clock::now() - state.begin < std::chrono::milliseconds{500} && !state.drawn) return;
  if (stderr_is_terminal()) {
    draw_bar(state, done);
    state.drawn = true;
  } else if (const int tenth = static_cast<int>(done * 10); tenth != state.last_tenth) {
    std::fprintf(stderr, "%s: %d %%\n", state.what.c_str(), tenth * 10);
    state.last_tenth = tenth;
    state.drawn = true;
  }
}

}  // namespace

int say(const Error& error) {
  say(error.message);
  return interrupted() == 0 ? exit_status(error.kind) : 128 + interrupted();
}

int say_usage_error(std::string_view message, std::string_view verb) {
  say(message);
  const bool known = !verb.empty() && !verb.starts_with('-');
  std::fprintf(stderr, "Try: rankscope %s--help\n", known ? format("{} ", printable(verb)).c_str() : "");
  return exit_status(ErrorKind::usage);
}

void say(std::string_view message) {
  const std::string text = printable_lines(message);
  std::fprintf(stderr, "rankscope: %s\n", text.c_str());
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

Result<void> print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return {};
  return fail(ErrorKind::cannot_write, format("cannot write to stdout: {}", std::strerror(errno)));
}

std::function<bool(double)> progress_of(std::string_view what) {
  auto state = std::make_shared<ProgressState>();
  state->what = printable(what);
  return [state](double done) {
    tell(*state, done);
    return interrupted() == 0;
  };
}

}  // namespace rankscope::cli
