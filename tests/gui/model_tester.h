// Every model is run under Qt's tester, which ends the test at the first broken contract.
#pragma once

#include <QAbstractItemModelTester>

namespace rankscope::gui {

inline constexpr auto fatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

}  // namespace rankscope::gui
