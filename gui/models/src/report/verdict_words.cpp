#include "rankscope/gui/models/report/verdict_words.h"

#include <QStringList>
#include <array>

#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

struct SectionWords {
  const char* in_text;    ///< as the text report cites it
  const char* in_viewer;  ///< the title of its panel, or the command that prints it
};
constexpr std::array sections{SectionWords{"DATA QUALITY (--full)", "Data quality"},
                              SectionWords{"DATA QUALITY", "Data quality"},
                              SectionWords{"NOT AVAILABLE (--full)", "the output of rankscope report --full"}};

QString with_panels(QString sentence) {
  for (const SectionWords& one : sections) sentence.replace(QLatin1String{one.in_text}, QLatin1String{one.in_viewer});
  return sentence;
}

/// "Cannot tell a: why. Cannot tell b: why." with the question whether a rank is slow in short, or without it.
QString with_short_doubt(const QString& sentences) {
  const QString start = QStringLiteral("Cannot tell ");
  const QStringList parts = sentences.split(start);
  QStringList kept;
  for (qsizetype i = 0; i < parts.size(); ++i) {
    const QString part = parts[i].trimmed();
    if (part.isEmpty() || part.startsWith(QStringLiteral("whether other ranks are slow, too:"))) continue;
    if (part.startsWith(QStringLiteral("whether a rank is slow:")))
      kept.push_back(QStringLiteral("Cannot tell whether a rank is slow."));
    else
      kept.push_back(i == 0 ? part : start + part);
  }
  return kept.join(QLatin1Char{' '});
}

QString joined(QStringList sentences, const analyzer::Report& report) {
  if (!report.steps) sentences.push_back(qt_text(analyzer::remedy_for(report, analyzer::section_id::steps)));
  sentences.removeAll(QString{});
  return with_panels(sentences.join(QLatin1Char{' '}));
}

}  // namespace

QString whole_verdict(const analyzer::Report& report) {
  QStringList sentences;
  for (const std::string& sentence : analyzer::verdict_sentences(report)) sentences.push_back(qt_text(sentence));
  return joined(std::move(sentences), report);
}

QString brief_verdict(const analyzer::Report& report) {
  QStringList sentences;
  for (const std::string& sentence : analyzer::verdict_sentences(report))
    sentences.push_back(with_short_doubt(qt_text(sentence)));
  return joined(std::move(sentences), report);
}

QString with_links_to_panels(const QString& verdict) {
  QString rich = verdict.toHtmlEscaped();
  rich.replace(QStringLiteral("Data quality"), QStringLiteral("<a href=\"quality\">Data quality</a>"));
  return rich;
}

}  // namespace rankscope::gui
