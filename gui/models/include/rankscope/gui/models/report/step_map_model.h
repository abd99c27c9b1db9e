// Which rank was late in which step, and which steps were long.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <cstdint>
#include <optional>

#include "rankscope/gui/models/report/lateness.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// A class of differences, by their share of the median step.
struct Shade {
  double below;  ///< the share at which the next shade begins
  QString words;
};
inline constexpr std::size_t shade_count = 8;
/// From "shorter by more than 20 % of a step" to "longer by more than 50 %"; those of the page of a report.
[[nodiscard]] std::array<Shade, shade_count> shades();
/// Its place in shades().
[[nodiscard]] int shade_of(double share);

/// Ranks are rows, counted steps are columns. A cell holds a difference in time.
class StepMapModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// What the difference in a cell is of.
  enum class Measure : std::uint8_t {
    lateness,   ///< own time (without waiting for others) minus that of the median rank in the same step
    step_time,  ///< window minus the median step
  };
  /// Beside the texts that every view asks for.
  enum Role : int {
    shade_role = Qt::UserRole,  ///< int; none where the rank has no such step
    share_role,                 ///< double: difference / median step
    visible_role,               ///< bool: the step is in sight
    widest_role,                ///< QString: the widest number of the map, the same for all cells
  };
  explicit StepMapModel(Session& session, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] Measure measure() const { return measure_; }
  void set_measure(Measure measure);
  /// What the numbers are, in a line.
  [[nodiscard]] QString caption() const;
  /// How the map is read.
  [[nodiscard]] QString help() const;
  /// What to say in place of the map; empty where there is one.
  [[nodiscard]] QString why_empty() const;
  /// The session shows that step of that rank.
  void go_to(const QModelIndex& index);
  /// The cell that deviates upwards most; invalid where there are none.
  [[nodiscard]] QModelIndex worst() const;

 private:
  void reload();
  void find_widest();
  void note_visible();
  [[nodiscard]] const std::optional<LatenessCell>& cell(int row, int column) const {
    return lateness_.cell(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
  }
  [[nodiscard]] std::int64_t difference_ns(const LatenessCell& cell) const;
  [[nodiscard]] QString sentence(const LatenessCell& cell, const QModelIndex& index) const;

  Session& session_;
  Measure measure_ = Measure::lateness;
  Lateness lateness_;
  QString widest_;  ///< number of a cell
};

}  // namespace rankscope::gui
