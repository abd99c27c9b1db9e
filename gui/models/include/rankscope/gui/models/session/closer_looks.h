// One closer look for all panels of a session.
#pragma once

#include <QObject>
#include <memory>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::analyzer {
class CloserLook;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// Makes it in the background as soon as the report is there. Belongs to the session.
class CloserLooks : public QObject {
  Q_OBJECT

 public:
  /// Of this session; made by whoever asks first.
  [[nodiscard]] static CloserLooks& of(Session& session);

  /// Null until it is made.
  [[nodiscard]] const std::shared_ptr<const analyzer::CloserLook>& look() const { return look_; }

 Q_SIGNALS:
  void changed();  ///< made, or gone

 private:
  explicit CloserLooks(Session& session);
  void forget();
  void make();

  Session& session_;
  std::shared_ptr<const analyzer::CloserLook> look_;
  LatestJob job_;
};

}  // namespace rankscope::gui
