#include "start.h"

#include <QCommandLineParser>
#include <QFontDatabase>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/time_text.h"

namespace rankscope::gui {
namespace {

/// What cannot be a part of a run together with another file: two of them are two runs.
bool is_whole_run(const std::filesystem::path& path) {
  std::error_code none;
  return recording::looks_like_recording(path) || path.extension() == ".rankscope" ||
         (std::filesystem::is_regular_file(path, none) && analyzer::looks_like_pack(path));
}

/// "1600x900"
Result<QSize> size_from(std::string_view text) {
  constexpr Bounds<int> pixels = picture_pixels;
  const std::size_t cross = text.find('x');
  const auto width = number_from<int>(text.substr(0, cross), pixels);
  const auto height = cross == std::string_view::npos ? std::nullopt : number_from<int>(text.substr(cross + 1), pixels);
  if (!width || !height)
    return fail(ErrorKind::usage, format("--size must be WIDTHxHEIGHT, each {} to {}, as in 1600x900 (is '{}')",
                                         pixels.least, pixels.most, text));
  return QSize{*width, *height};
}

constexpr const char* font_settings = "FONTCONFIG_FILE";

/// The Wayland plugin looks for OpenGL when the first window opens; the viewer paints without, and its wheel has none.
bool is_about_opengl(const QString& message) {
  constexpr std::array words{QLatin1String{"client buffer integration"}, QLatin1String{"hardware integration"},
                             QLatin1String{"EGL"}};
  return std::ranges::any_of(words, [&message](QLatin1String word) { return message.contains(word); });
}

/// The only fatal message before the window: no platform could be opened.
void end_in_words(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type != QtFatalMsg) {
    if (!is_about_opengl(message)) std::fprintf(stderr, "rankscope: %s\n", message.toUtf8().constData());
    return;
  }
  std::fputs(
      "rankscope: the viewer did not find a display. Log in with `ssh -X`, set QT_QPA_PLATFORM=vnc (or offscreen), or "
      "write the report as a page: rankscope report RUN --html page.html\n",
      stderr);
  std::_Exit(exit_status(ErrorKind::cannot_write));
}

}  // namespace

Result<StartOptions> start_options() {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("The timeline of a recording; started by `rankscope view`."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption at{QStringLiteral("at"), QStringLiteral("show 100 ms around this time"),
                              QStringLiteral("TIME")};
  const QCommandLineOption ranks{QStringLiteral("ranks"), QStringLiteral("show only these ranks, e.g. 0,2,4-7"),
                                 QStringLiteral("LIST")};
  const QCommandLineOption map{QStringLiteral("rank-map"),
                               QStringLiteral("ranks of trace files that do not state their rank"),
                               QStringLiteral("FILE=RANK,...")};
  // Not --session, which QApplication takes for itself.
  const QCommandLineOption session{QStringLiteral("view-file"),
                                   QStringLiteral("load pins, marks and the view from this file, and save them to it"),
                                   QStringLiteral("FILE")};
  const QCommandLineOption picture{QStringLiteral("picture"),
                                   QStringLiteral("write a picture (.png, .svg) and exit; needs no display"),
                                   QStringLiteral("FILE")};
  const QCommandLineOption size{QStringLiteral("size"), QStringLiteral("size of the picture"),
                                QStringLiteral("WIDTHxHEIGHT")};
  const QCommandLineOption compare{QStringLiteral("compare"),
                                   QStringLiteral("show this run below the other, aligned by step"),
                                   QStringLiteral("RUN")};
  const QCommandLineOption keep_texts{QStringLiteral("keep-texts"),
                                      QStringLiteral("show strings as recorded, including secrets")};
  parser.addOptions({at, ranks, map, keep_texts, compare, session, picture, size});
  parser.addPositionalArgument(QStringLiteral("RUN"), QStringLiteral("a recording, or trace files of one kind"));
  parser.process(*QCoreApplication::instance());
  StartOptions options;
  for (const QString& name : parser.positionalArguments()) options.source.paths.emplace_back(name.toStdString());
  RS_TRY(options.source.rank_map, analyzer::rank_map_from(parser.value(map).toStdString()));
  options.ranks = parser.value(ranks).toStdString();
  RS_TRY_VOID(ranks_from(options.ranks, "--ranks"));
  if (parser.isSet(compare)) options.other.paths.emplace_back(parser.value(compare).toStdString());
  if (std::vector<std::filesystem::path>& paths = options.source.paths;
      options.other.paths.empty() && paths.size() == 2 && std::ranges::all_of(paths, is_whole_run)) {
    options.other.paths = {paths.back()};
    paths.pop_back();
  }
  options.other.rank_map = options.source.rank_map;
  options.source.texts = parser.isSet(keep_texts) ? Texts::as_recorded : Texts::without_secrets;
  options.other.texts = options.source.texts;
  options.session = parser.value(session).toStdString();
  options.picture = parser.value(picture).toStdString();
  if (parser.isSet(size)) {
    RS_TRY(options.size, size_from(parser.value(size).toStdString()));
  }
  if (!options.picture.empty() && options.source.paths.empty())
    return fail(ErrorKind::usage, "--picture needs a RUN to draw");
  if (!options.other.paths.empty() && options.source.paths.empty())
    return fail(ErrorKind::usage, "--compare OTHER needs another run before it: rankscope view RUN --compare OTHER");
  if (!options.other.paths.empty() && !(options.picture.empty() && options.session.empty()))
    return fail(ErrorKind::usage, "--picture and --session take one run, not two");
  if (parser.isSet(at)) {
    RS_TRY(options.at, duration_from(parser.value(at).toStdString()).map_error(while_doing("--at")));
  }
  return options;
}

bool asks_for_picture(std::span<char* const> words) {
  return std::ranges::any_of(
      words, [](std::string_view word) { return word == "--picture" || word.starts_with("--picture="); });
}

void end_without_display_in_words() { qInstallMessageHandler(end_in_words); }

void keep_notes_of_qt() {
  qInstallMessageHandler([](QtMsgType type, const QMessageLogContext& context, const QString& message) {
    if (type == QtFatalMsg) end_in_words(type, context, message);
  });
}

void show_notes_of_qt() {
  qInstallMessageHandler(nullptr);
  static const QtMessageHandler handler_of_qt = qInstallMessageHandler(nullptr);
  qInstallMessageHandler([](QtMsgType type, const QMessageLogContext& context, const QString& message) {
    if (!is_about_opengl(message)) handler_of_qt(type, context, message);
  });
}

OwnFonts::OwnFonts() {
  std::error_code none;  // only where scripts/wheel has put the program
  const std::filesystem::path file =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "../viewer/fonts/fonts.conf";
  if (!qEnvironmentVariableIsEmpty(font_settings) || !std::filesystem::exists(file, none)) return;
  named_ = qputenv(font_settings, QByteArray::fromStdString(file.string()));
}

void OwnFonts::read() {
  if (!named_) return;
  QFontDatabase::families();  // reads the settings
  qunsetenv(font_settings);
}

}  // namespace rankscope::gui
