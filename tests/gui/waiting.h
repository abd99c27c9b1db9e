// Runs the event loop until something holds.
#pragma once

#include <QTest>

#include "rankscope/gui/models/session/session.h"

namespace rankscope::testing {

/// False if it does not hold within a minute; sanitizers make programs slow.
template <class Condition>
[[nodiscard]] bool comes_true(Condition condition) {
  return QTest::qWaitFor(condition, 60'000);
}

[[nodiscard]] inline bool becomes_ready(const gui::Session& session) {
  return comes_true([&session] { return session.state() == gui::LoadState::ready; });
}

}  // namespace rankscope::testing
