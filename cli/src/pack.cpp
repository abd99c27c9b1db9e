// rankscope pack RUN... [OUT]
#include <filesystem>
#include <memory>

#include "interrupt.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/core/format.h"
#include "run_argument.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

namespace fs = std::filesystem;

struct PackArguments {
  RunArgument run;
  std::string out;
};

/// NAME.rankscope -> NAME.rankscope.tar.zst in the current folder's terms.
std::string default_out(const std::string& run) {
  fs::path path{run};
  if (!path.has_filename()) path = path.parent_path();
  return path.string() + ".tar.zst";
}

/// The last of several words is OUT, as in `export`.
void split_words(PackArguments& arguments) {
  std::vector<std::string>& words = arguments.run.paths;
  if (words.size() == 1) {
    arguments.out = default_out(words.front());
    return;
  }
  arguments.out = words.back();
  words.pop_back();
}

std::string what_was_hidden(const PackArguments& arguments, const analyzer::PackSummary& packed) {
  if (arguments.run.reading.keep_texts) return "secrets were not hidden";
  return format("secrets hidden in {}", counted(packed.texts_hidden, "string"));
}

Result<analyzer::PackSummary> pack_run(PackArguments& arguments) {
  split_words(arguments);
  RS_TRY(analyzer::ImportOptions options, import_options(arguments.run));
  const auto check = analyzer::looks_like_pack(arguments.out) ? check_not_read : check_output;
  RS_TRY_VOID(check(arguments.run.paths, arguments.out));
  options.progress = progress_of("writing " + (analyzer::is_stdout(arguments.out) ? "stdout" : arguments.out));
  const std::vector<fs::path> inputs{arguments.run.paths.begin(), arguments.run.paths.end()};
  catch_interrupts();
  return analyzer::pack(inputs, arguments.out, options);
}

}  // namespace

Action declare_pack(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<PackArguments>();
  add_run(app, arguments->run)->option_text("... [OUT]");
  app.footer(
      "OUT is the file to write, or - for stdout. If there is only one RUN, OUT can be omitted: the file is then "
      "RUN.tar.zst. An existing file is replaced only when the pack is complete. Secrets are hidden unless "
      "--keep-texts is given (docs/secrets.md).");
  return [arguments] {
    const auto packed = pack_run(*arguments);
    if (!packed) return say(packed.error());
    const std::string& out = arguments->out;
    if (analyzer::is_stdout(out)) return 0;
    std::error_code no_size;
    const auto bytes = fs::file_size(out, no_size);
    say(format("wrote {} ({:.1f} MB, packed from {:.1f} MB in {}; {})", out,
               no_size ? 0.0 : static_cast<double>(bytes) / 1e6, static_cast<double>(packed->bytes_in) / 1e6,
               counted(packed->files, "file"), what_was_hidden(*arguments, *packed)));
    return 0;
  };
}

}  // namespace rankscope::cli
