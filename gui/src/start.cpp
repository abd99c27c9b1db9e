#include "start.h"

#include <QCommandLineParser>
#include <cstdio>
#include <cstdlib>

#include "rankscope/core/format.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/core/time_text.h"

namespace rankscope::gui {
namespace {

Result<std::map<std::string, std::uint32_t>> rank_map_from(const QString& text) {
  std::map<std::string, std::uint32_t> map;
  for (const QString& entry : text.split(QLatin1Char{','}, Qt::SkipEmptyParts)) {
    const qsizetype equals = entry.lastIndexOf(QLatin1Char{'='});
    bool is_number = false;
    const uint rank = entry.mid(equals + 1).toUInt(&is_number);
    if (equals <= 0 || !is_number)
      return fail(ErrorKind::usage, format("--rank-map: '{}' is no FILE=RANK", entry.toStdString()));
    map.emplace(entry.left(equals).toStdString(), rank);
  }
  return map;
}

/// The only fatal message before the window: no platform could be opened.
void end_in_words(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type != QtFatalMsg) {
    std::fprintf(stderr, "rankscope: %s\n", message.toUtf8().constData());
    return;
  }
  std::fputs(
      "rankscope: the viewer finds no display. Log in with `ssh -X`, set QT_QPA_PLATFORM=vnc (or offscreen), or make a "
      "page of the run: rankscope report RUN --html page.html\n",
      stderr);
  std::_Exit(exit_status(ErrorKind::cannot_write));
}

}  // namespace

Result<StartOptions> start_options() {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("The timeline of a recording; started by `rankscope view`."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption at{QStringLiteral("at"), QStringLiteral("show this time of the run"),
                              QStringLiteral("TIME")};
  const QCommandLineOption ranks{QStringLiteral("ranks"), QStringLiteral("only these, e.g. 0,2,4-7"),
                                 QStringLiteral("LIST")};
  const QCommandLineOption map{QStringLiteral("rank-map"), QStringLiteral("ranks of trace files that do not tell"),
                               QStringLiteral("FILE=RANK,...")};
  parser.addOptions({at, ranks, map});
  parser.addPositionalArgument(QStringLiteral("RUN"), QStringLiteral("a recording, or traces of one kind"));
  parser.process(*QCoreApplication::instance());
  StartOptions options;
  for (const QString& name : parser.positionalArguments()) options.source.paths.emplace_back(name.toStdString());
  RS_TRY(options.source.rank_map, rank_map_from(parser.value(map)));
  options.ranks = parser.value(ranks).toStdString();
  RS_TRY_VOID(ranks_from(options.ranks, "--ranks"));
  if (parser.isSet(at)) {
    RS_TRY(options.at, duration_from(parser.value(at).toStdString()).map_error(while_doing("--at")));
  }
  return options;
}

void end_without_display_in_words() { qInstallMessageHandler(end_in_words); }

}  // namespace rankscope::gui
