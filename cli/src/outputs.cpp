#include "outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "run_argument.h"
#include "say.h"

namespace rankscope::cli {
namespace {

analyzer::Colour colour_of(const std::string& wish) {
  const bool plain = std::getenv("NO_COLOR") != nullptr || !stdout_is_terminal();
  const bool coloured = wish == "always" || (wish == "auto" && !plain);
  return coloured ? analyzer::Colour::yes : analyzer::Colour::no;
}

/// Also of files that are not there yet, by other paths and through links.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  if (one == other) return true;
  if (analyzer::is_stdout(one) || analyzer::is_stdout(other)) return false;
  // One that cannot be looked up cannot be written either, which is said then.
  std::error_code failed;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(one, failed), failed);
  if (failed) return false;
  return first == std::filesystem::weakly_canonical(std::filesystem::absolute(other, failed), failed) && !failed;
}

/// A terminal, a log of both, `2>&1`.
bool stderr_is_stdout() {
  struct stat out {};
  struct stat err {};
  return ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
         out.st_ino == err.st_ino;
}

bool prints_text(const Outputs& outputs) {
  return !analyzer::is_stdout(outputs.json) && !analyzer::is_stdout(outputs.html);
}

}  // namespace

void add_outputs(CLI::App& app, Outputs& outputs, const std::string& what) {
  app.add_option("--html", outputs.html, "write " + what + " as one HTML page to this file (-: to stdout)");
  add_json_output(app, outputs, what);
}

void add_json_output(CLI::App& app, Outputs& outputs, const std::string& what) {
  app.add_option("--json", outputs.json,
                 "write " + what + " as JSON to this file (-: to stdout, in place of the text)");
  app.add_option("--colour,--color", outputs.colour, "colour the text: auto, always or never")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

Result<void> check_outputs(const std::vector<std::string>& runs, const Outputs& outputs) {
  for (const std::string& file : {outputs.json, outputs.html})
    if (!file.empty()) RS_TRY_VOID(check_output(runs, file));
  if (outputs.json.empty() || outputs.html.empty() || !same_file(outputs.json, outputs.html)) return {};
  return fail(ErrorKind::usage, format("--json and --html both write to {}; give each its own file", outputs.json));
}

Result<void> write_outputs(const Outputs& outputs, const Renderers& render) {
  if (!outputs.json.empty()) RS_TRY_VOID(analyzer::write_file(outputs.json, render.json()));
  if (!outputs.html.empty()) RS_TRY_VOID(analyzer::write_file(outputs.html, render.html()));
  if (!prints_text(outputs)) return {};
  return print(render.text(colour_of(outputs.colour)));
}

void say_again(const Outputs& outputs, std::string_view message) {
  if (!prints_text(outputs) || !stderr_is_stdout()) say(message);
}

}  // namespace rankscope::cli
