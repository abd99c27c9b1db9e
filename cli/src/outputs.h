// Files that reading verbs write beside their text: --json, --html, --colour.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/result.h"

namespace rankscope::cli {

/// The options as given; an empty name is no file.
struct Outputs {
  std::string json;
  std::string html;
  std::string colour = "auto";
};

/// `what` names the thing written: "the report".
void add_outputs(CLI::App& app, Outputs& outputs, const std::string& what);
/// The same without a page.
void add_json_output(CLI::App& app, Outputs& outputs, const std::string& what);

/// `usage` error unless every file that is asked for is another one, and none is what is read.
[[nodiscard]] Result<void> check_outputs(const std::vector<std::string>& runs, const Outputs& outputs);

/// How to write each form; called only for those that are asked for.
struct Renderers {
  std::function<std::string()> json;
  std::function<std::string()> html;
  std::function<std::string(analyzer::Colour)> text;
};

/// The files; the text only where stdout is not one of them.
[[nodiscard]] Result<void> write_outputs(const Outputs& outputs, const Renderers& render);

/// A line on stderr that repeats a sentence of the text; nothing if stdout and stderr go to the same place, where the
/// text was just printed.
void say_again(const Outputs& outputs, std::string_view message);

}  // namespace rankscope::cli
