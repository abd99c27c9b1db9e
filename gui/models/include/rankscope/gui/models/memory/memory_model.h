// Memory of each rank over the visible range, and where it was highest.
#pragma once

#include <QStringList>
#include <memory>
#include <optional>
#include <vector>

#include "rankscope/analyzer/memory/lines.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/memory/memory_peaks.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::analyzer {
struct MemoryPeak;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// A row per rank that has the chosen quantity and is not filtered out. Peaks of the whole run are those of the report.
class MemoryModel : public TableModel {
  Q_OBJECT

 public:
  enum Column : int { rank, peak, when, step, where, run_peak };
  explicit MemoryModel(Session& session, QObject* parent = nullptr);

  /// Nothing is read for what nobody sees; it begins as passive.
  void set_active(bool active);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "allocated on the device 0", ...: what the run has.
  [[nodiscard]] QStringList choices() const;
  [[nodiscard]] int choice() const { return choice_; }
  void set_choice(int choice);
  /// What is shown, in which unit, and how well it is known.
  [[nodiscard]] QString caption() const;
  /// What to say in place of charts; empty where there are some.
  [[nodiscard]] QString why_empty() const;

  [[nodiscard]] const MemoryPeaks& peaks(int row) const { return *rows_[static_cast<std::size_t>(row)].peaks; }
  [[nodiscard]] const analyzer::MemoryLine& line(int row) const { return peaks(row).line(); }
  [[nodiscard]] const std::optional<analyzer::MemoryValue>& peak_in_sight(int row) const {
    return rows_[static_cast<std::size_t>(row)].peak;
  }
  /// Of all rows in sight; 0 where there are none.
  [[nodiscard]] std::int64_t highest() const;
  /// "rank 2: 1.20 GB 31 ms after the start of the run, step 3"
  [[nodiscard]] QString sentence(int row, RunTime moment) const;
  /// The row of the selected event's rank; -1: none.
  [[nodiscard]] int selected_row() const;

  /// The session shows a moment of a rank, and what ran there.
  void go_to(int row, RunTime moment);
  void go_to_peak(int row);
  /// The one of the whole run, where its time is known.
  void go_to_run_peak(int row);

 Q_SIGNALS:
  void choicesChanged();
  void peaksChanged();

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  /// The curves of the whole run, made once on a worker.
  struct Lines {
    explicit Lines(const Run& run);
    std::vector<analyzer::MemoryLine> all;
    std::vector<MemoryPeaks> peaks;  // parallel to it
  };
  /// Which curves are shown together: those of all ranks for one quantity and one number of a device.
  struct Choice {
    analyzer::MemoryQuantity quantity = analyzer::MemoryQuantity::allocated;
    std::int32_t device = -1;
    bool operator==(const Choice&) const = default;
  };
  /// The highest point of one curve in the range.
  struct Row {
    const MemoryPeaks* peaks;  // of lines_
    std::optional<analyzer::MemoryValue> peak;
  };
  void forget();
  void ask();
  void take(std::shared_ptr<const Lines> lines, const std::shared_ptr<const Run>& run);
  void list_rows();
  void find_peaks();
  [[nodiscard]] const analyzer::MemoryPeak* peak_of_run(int row) const;
  [[nodiscard]] QString run_peak_text(int row) const;
  [[nodiscard]] QString place_text(const analyzer::MemoryValue& value) const;
  [[nodiscard]] QString text_of(int row, Column column) const;
  [[nodiscard]] QString tip_of(int row, Column column) const;

  Session& session_;
  bool active_ = false;
  std::shared_ptr<const Lines> lines_;
  std::shared_ptr<const Run> lines_of_;
  std::vector<Choice> choices_;
  int choice_ = -1;
  std::vector<Row> rows_;
  LatestJob job_;
};

}  // namespace rankscope::gui
