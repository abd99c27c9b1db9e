// rankscope doctor: what can be recorded here, each line with what to do about it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "needed_libraries.h"
#include "programs.h"
#include "rankscope/collectors/gpu_state.h"
#include "rankscope/collectors/sources.h"
#include "rankscope/collectors/spools.h"
#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "rankscope/core/recording/segment_writer.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

namespace fs = std::filesystem;

struct Line {
  bool good = false;
  std::string what;
  std::string found;
  std::string advice;  ///< printed where not good
};

Line library_line() {
  const auto path = find_program_file(inject_library_name);
  return {
      path.has_value(), "recorder library", path ? path->string() : "not found",
      "put librankscope_inject.so in the folder of the rankscope program, or set RANKSCOPE_INJECT_LIB to the path of "
      "this library"};
}

Line trainer_line() {
  const auto path = find_program_file(trainer_name);
  return {path.has_value(), "reference trainer", path ? path->string() : "not built",
          "configure with -DRANKSCOPE_TRAINER=ON and libtorch (scripts/setup fetches it); everything else works "
          "without the trainer"};
}

Line viewer_line() {
  const auto path = find_program_file(viewer_name);
  if (!path)
    return {false, "timeline viewer", installed_by_pip() ? "not installed" : "not built",
            format("{}; everything else works without the viewer", how_to_get_viewer())};
  const auto starts = check_libraries(path->string());
  return {starts.has_value(), "timeline viewer", path->string(), starts ? std::string{} : starts.error().message};
}

Line clock_line() {
  const bool tsc = recording::TickClock::detect().source() == recording::ClockSource::tsc;
  return {
      tsc, "event clock", tsc ? "time-stamp counter" : "CLOCK_MONOTONIC",
      "the Linux kernel does not trust the processor's time-stamp counter, so recording takes about 20 ns longer per "
      "event"};
}

Line spool_line() {
  const char* own = std::getenv("RANKSCOPE_SPOOL");
  const char* temporary = std::getenv("TMPDIR");
  const fs::path folder = own != nullptr ? own : temporary != nullptr ? temporary : "/tmp";
  std::error_code error;
  const auto space = fs::space(folder, error);
  const bool writable = access(folder.c_str(), W_OK) == 0;
  const bool roomy = !error && space.available > (std::uintmax_t{1} << 30);
  return {writable && roomy, "spool folder",
          format("{}, {:.1f} GB free{}", folder.string(), error ? 0.0 : static_cast<double>(space.available) / 1e9,
                 writable ? "" : ", not writable"),
          "set RANKSCOPE_SPOOL to a writable node-local folder with at least 1 GB free"};
}

Line pressure_line() {
  const bool there = std::ifstream{"/proc/pressure/cpu"}.good();
  return {there, "pressure counters", there ? "/proc/pressure" : "absent",
          "the Linux kernel was built or booted without PSI (pressure stall information), so host samples have no "
          "pressure values"};
}

std::string to_text(const Line& line) {
  std::string text = format("{} {:<20} {}\n", line.good ? "ok  " : "note", line.what, line.found);
  if (!line.good) text += format("     {:<20} -> {}\n", "", line.advice);
  return text;
}

std::string source_lines() {
  std::string text = "Sources of --collect:\n";
  for (const collectors::SourceInfo& source : collectors::sources())
    text += format("  {:<10} {}{}\n", source.id, source.summary, source.built ? "" : " (not in this build)");
  return text;
}

/// As one line: a program may be given to python3 -c as a word of many.
std::string command_text(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::ranges::replace_if(command, is_control, ' ');
  return command;
}

std::string advice(std::string_view what, const std::string& line) {
  return format("     {:<20} -> {} {}\n", "", what, line);
}

std::string segments_lines(const collectors::LeftSpool& left) {
  const std::string command = command_text(left.command);
  std::string text = format("note {:<20} {}: {}, {:.1f} MB on disk{}{}\n", "left-over recording", left.path.string(),
                            counted(left.segments, "segment"), static_cast<double>(left.bytes) / 1e6,
                            command.empty() ? "" : ", command: ", command);
  const std::string out = left.out.empty() ? " --out NAME.rankscope" : "";
  if (left.written > 0)
    text += advice("wait:  ", format("until {} {} writing to it", counted(left.written, "process"),
                                     left.written == 1 ? "stops" : "stop"));
  text += advice("read:  ", "rankscope report " + left.path.string());
  text += advice("keep:  ", "rankscope record --recover " + left.path.string() + out);
  return text + advice("delete:", "rm -r " + left.path.string());
}

std::string rest_lines(const collectors::LeftSpool& left) {
  const std::string why = left.kind == collectors::LeftKind::empty ? std::string{"nothing was recorded in it"}
                          : left.out.empty()                       ? std::string{"nothing in it is still needed"}
                                             : format("its segments are already in {}", left.out.string());
  const std::string note = format("note {:<20} {}: {}\n", "left-over folder", left.path.string(), why);
  if (left.written > 0)
    return note + advice("wait:  ", format("for {} to end; until then, more may be recorded into this folder",
                                           counted(left.written, "process")));
  return note + advice("remove:", "rankscope record --recover " + left.path.string());
}

std::string left_lines() {
  std::string text;
  for (const collectors::LeftSpool& left : collectors::left_spools())
    text += left.kind == collectors::LeftKind::segments ? segments_lines(left) : rest_lines(left);
  return text;
}

}  // namespace

Action declare_doctor(CLI::App& app, const Words&) {
  app.footer("Exit status: 0 if programs can be recorded here, 5 if the recorder's library is missing.");
  return [] {
    std::string text = "rankscope " RANKSCOPE_VERSION "\n";
    const Line library = library_line();
    for (const Line& line : {library, trainer_line(), viewer_line(), clock_line(), spool_line(), pressure_line()})
      text += to_text(line);
    for (const auto& states : {collectors::host_states(), collectors::gpu_states()})
      for (const collectors::GpuState& state : states)
        text += to_text({state.good, state.what, state.found, state.advice});
    const auto printed = print(printable_lines(text + left_lines() + source_lines()));
    if (!printed) return say(printed.error());
    return library.good ? 0 : exit_status(ErrorKind::cannot_write);
  };
}

}  // namespace rankscope::cli
