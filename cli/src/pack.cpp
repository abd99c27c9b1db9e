// rankscope pack RUN [OUT]
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
  std::string run;
  std::string out;
  bool keep_secrets = false;
};

/// NAME.rankscope -> NAME.rankscope.tar.zst in the current folder's terms.
std::string default_out(const std::string& run) {
  fs::path path{run};
  if (!path.has_filename()) path = path.parent_path();
  return path.string() + ".tar.zst";
}

}  // namespace

Action declare_pack(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<PackArguments>();
  app.add_option("RUN", arguments->run, "a .rankscope folder")->required();
  app.add_option("OUT", arguments->out,
                 "file to write (default: RUN.tar.zst); replaced only when the pack is complete");
  app.add_flag("--keep-secrets", arguments->keep_secrets,
               "do not hide likely credentials in strings and in the command line");
  return [arguments] {
    const std::string out = arguments->out.empty() ? default_out(arguments->run) : arguments->out;
    const auto secrets = arguments->keep_secrets ? recording::Secrets::keep : recording::Secrets::hide;
    const auto check = analyzer::looks_like_pack(out) ? check_not_read : check_output;
    const auto allowed = check({arguments->run}, out);
    if (!allowed) return say(allowed.error());
    const std::string shown = analyzer::is_stdout(out) ? "stdout" : out;
    catch_interrupts();
    const auto packed = analyzer::pack_recording(arguments->run, out, secrets, progress_of("writing " + shown));
    if (!packed) return say(packed.error());
    if (analyzer::is_stdout(out)) return 0;
    std::error_code no_size;
    const auto bytes = fs::file_size(out, no_size);
    say(format("wrote {} ({:.1f} MB, packed from {:.1f} MB in {}; {})", out,
               no_size ? 0.0 : static_cast<double>(bytes) / 1e6, static_cast<double>(packed->bytes_in) / 1e6,
               counted(packed->files, "file"),
               arguments->keep_secrets ? "secrets were kept"
                                       : format("{} hidden", counted(packed->secrets_hidden, "secret"))));
    return 0;
  };
}

}  // namespace rankscope::cli
