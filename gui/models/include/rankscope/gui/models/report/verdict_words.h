// The verdict of a report as the viewer says it.
#pragma once

#include <QString>

namespace rankscope::analyzer {
struct Report;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// All sentences of the text report's verdict, and how the next recording gets steps where this one has none. Sections
/// of the text report are named as their panels are.
[[nodiscard]] QString whole_verdict(const analyzer::Report& report);

/// The same, but whether a rank is slow that none of the evidence names is one short sentence, without its reason;
/// where a slow rank is named, it is left out.
[[nodiscard]] QString brief_verdict(const analyzer::Report& report);

/// As rich text, in which names of panels are links: their address is the id of the panel.
[[nodiscard]] QString with_links_to_panels(const QString& verdict);

}  // namespace rankscope::gui
