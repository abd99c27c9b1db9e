// Two runs on one zoom, their steps below each other.
#pragma once

#include <QObject>
#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// Begin of one step in both runs.
struct StepPair {
  std::int64_t index = 0;
  TimeRange a;
  TimeRange b;
  bool operator==(const StepPair&) const = default;
};
/// Of the steps that both reports have, by index.
[[nodiscard]] std::vector<StepPair> common_steps(const analyzer::Report& a, const analyzer::Report& b);

/// What one session shows the other shows, too: as much time, and in its middle the same moment of the same step,
/// counted from the step's begin. Without common steps the begins of the runs stand below each other.
class StepLink : public QObject {
  Q_OBJECT

 public:
  StepLink(Session& a, Session& b, QObject* parent = nullptr);

  [[nodiscard]] const std::vector<StepPair>& steps() const { return steps_; }
  /// The common step of median length in A that counts in both; null where there is none.
  [[nodiscard]] const StepPair* usual_step() const;
  /// In both.
  void show(const StepPair& step);

 private:
  /// Whose view the user moved; the other one follows.
  enum class From : std::uint8_t { a, b };
  void reload();
  void follow(From from);
  [[nodiscard]] nanoseconds offset_at(From from, RunTime moment) const;

  Session& a_;
  Session& b_;
  std::vector<StepPair> steps_;
  bool following_ = false;
};

}  // namespace rankscope::gui
