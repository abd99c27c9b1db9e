// rankscope view [RUN]: starts the viewer, which is a program of its own.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "needed_libraries.h"
#include "programs.h"
#include "rankscope/core/format.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/core/time_text.h"
#include "run_argument.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct ViewArguments {
  RunArgument run;
  std::string at;
  std::string ranks;
  std::string compare;
  std::string session;
  std::string picture;
  std::string size;
};

constexpr const char* session_of_viewer = "--view-file";  // Qt takes --session for itself

Result<std::vector<std::string>> command_of(const ViewArguments& arguments) {
  const auto viewer = find_program_file(viewer_name);
  if (!viewer)
    return fail(ErrorKind::cannot_write,
                format("the timeline viewer is not {}: {}; or write a page: rankscope report RUN --html page.html",
                       installed_by_pip() ? "installed" : "in this build", how_to_get_viewer()));
  std::vector<std::string> command{viewer->string()};
  const auto pass = [&command](const char* option, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {option, value});
  };
  if (!arguments.at.empty()) RS_TRY_VOID(duration_from(arguments.at).map_error(while_doing("--at")));
  RS_TRY_VOID(ranks_from(arguments.ranks, "--ranks"));
  pass("--at", arguments.at);
  pass("--ranks", arguments.ranks);
  pass("--rank-map", arguments.run.reading.rank_map);
  if (arguments.run.reading.keep_texts) command.emplace_back("--keep-texts");
  pass("--compare", arguments.compare);
  pass(session_of_viewer, arguments.session);
  pass("--picture", arguments.picture);
  pass("--size", arguments.size);
  if (arguments.run.paths.empty() && command.size() > 1) {
    const std::string option = command[1] == session_of_viewer ? "--session" : command[1];
    return fail(ErrorKind::usage, format("{} needs a RUN before it: rankscope view RUN {} ...", option, option));
  }
  command.emplace_back("--");
  const auto is_there = [](const std::string& path) -> Result<void> {
    std::error_code failed;
    if (std::filesystem::exists(path, failed)) return {};
    return fail(ErrorKind::unreadable, format("{}: no such file or folder", path));
  };
  if (!arguments.compare.empty()) RS_TRY_VOID(is_there(arguments.compare));
  for (const std::string& path : arguments.run.paths) {
    RS_TRY_VOID(is_there(path));
    command.push_back(path);
  }
  RS_TRY_VOID(check_libraries(viewer->string()));
  return command;
}

/// Returns only where that fails.
Error become_viewer(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  return {ErrorKind::cannot_write, format("cannot start {}: {}", command.front(), std::strerror(errno))};
}

}  // namespace

Action declare_view(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ViewArguments>();
  add_run(app, arguments->run)->required(false);
  app.add_option("--at", arguments->at,
                 "show the 100 ms around this time, counted from the start of the run, e.g. 1.5s, 200ms or 40us");
  app.add_option("--ranks", arguments->ranks, "show only these ranks, e.g. 0,2,4-7");
  app.add_option("--compare", arguments->compare,
                 "show this run below RUN, aligned by step, and show what changed; two .rankscope folders or packs can "
                 "also be given without --compare");
  app.add_option("--session", arguments->session,
                 "read pins, marks and the view from this file and save them there, instead of in NAME.rankscope-view "
                 "beside the run");
  auto* const picture = app.add_option("--picture", arguments->picture,
                                       "write a picture of the timeline (.png, .svg) and exit; needs no display");
  app.add_option("--size", arguments->size,
                 "size of the picture: WIDTHxHEIGHT (default: 1600x900, or up to 4000 high if the rows need it)")
      ->needs(picture);
  app.footer("Exit status: 5 if the viewer is missing, cannot start or finds no display.");
  return [arguments] {
    const auto command = command_of(*arguments);
    return say(command ? become_viewer(*command) : command.error());
  };
}

}  // namespace rankscope::cli
