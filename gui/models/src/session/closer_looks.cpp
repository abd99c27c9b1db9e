#include "rankscope/gui/models/session/closer_looks.h"

#include <utility>

#include "rankscope/analyzer/blame/closer_look.h"

namespace rankscope::gui {

CloserLooks& CloserLooks::of(Session& session) {
  auto* const found = session.findChild<CloserLooks*>(QString{}, Qt::FindDirectChildrenOnly);
  return found != nullptr ? *found : *new CloserLooks(session);
}

CloserLooks::CloserLooks(Session& session) : QObject(&session), session_(session) {
  connect(&session, &Session::runOpened, this, &CloserLooks::forget);
  connect(&session, &Session::reportChanged, this, &CloserLooks::make);
  make();
}

void CloserLooks::forget() {
  job_.cancel();
  if (std::exchange(look_, nullptr) != nullptr) Q_EMIT changed();
}

void CloserLooks::make() {
  if (session_.report() == nullptr) return;
  job_.start([this, recorded = session_.recorded()](const std::stop_token& stop) -> LatestJob::Delivery {
    auto look = analyzer::CloserLook::at(*recorded, [&stop] { return stop.stop_requested(); });
    return [this, look = std::move(look)] {
      look_ = look;
      Q_EMIT changed();
    };
  });
}

}  // namespace rankscope::gui
