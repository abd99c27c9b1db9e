// Operators of a rank as a tree: what is selected or in sight, added up by what called what.
#pragma once

#include <QAbstractItemModel>
#include <QStringList>
#include <memory>
#include <optional>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/flame/flame_tree.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// The rank is that of the selected event, or the one that was set last; the range is the selected area, else what is
/// in sight. Qt::UserRole has numbers.
class FlameModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column : int { name, total, share, own, calls, longest };
  explicit FlameModel(Session& session, QObject* parent = nullptr);

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// Nothing is added up for what nobody sees; it begins as passive.
  void set_active(bool active);
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "rank 0", ...: in the order of Run::ranks().
  [[nodiscard]] QStringList ranks() const;
  [[nodiscard]] int rank_row() const;
  void set_rank_row(int row);
  /// "Visible range: 12.3 ms, 1,204 calls in 3 threads of rank 0"
  [[nodiscard]] QString caption() const;
  /// What to say in place of a picture; empty where there is one.
  [[nodiscard]] QString why_empty() const;

  /// Null until there is one.
  [[nodiscard]] const std::shared_ptr<const FlameTree>& tree() const { return tree_; }
  [[nodiscard]] QModelIndex index_of(std::uint32_t frame) const;
  [[nodiscard]] std::uint32_t frame_at(const QModelIndex& index) const {
    return static_cast<std::uint32_t>(index.internalId());
  }
  /// "rank 0", "main", or the short name.
  [[nodiscard]] QString label(std::uint32_t frame) const;
  /// As it was recorded.
  [[nodiscard]] QString full_name(std::uint32_t frame) const;
  /// Name and numbers, for tooltips and screen readers.
  [[nodiscard]] QString sentence(std::uint32_t frame) const;

  /// The frame that the selected event belongs to, if it is in the tree.
  [[nodiscard]] std::optional<std::uint32_t> selected_frame() const;

  /// The frame that fills the picture.
  [[nodiscard]] std::uint32_t top() const { return top_; }
  void zoom_to(std::uint32_t frame);
  void zoom_out() { zoom_to(tree_ == nullptr ? 0 : tree_->frame(top_).parent); }
  void reset() { zoom_to(0); }
  /// The longest event of a frame is selected and brought into view; of a lane or rank there is none.
  void go_to_longest(std::uint32_t frame);
  /// The timeline lights all events with the frame's name, and its search goes through them.
  void search_in_timeline(std::uint32_t frame);

 Q_SIGNALS:
  void ranksChanged();
  void rankChanged();
  void topChanged();

 private:
  void forget();
  void follow_selection();
  void ask();
  void take(std::shared_ptr<const FlameTree> tree);
  [[nodiscard]] FlameQuestion question() const;
  [[nodiscard]] double share_of(const FlameFrame& frame) const;
  [[nodiscard]] QVariant number(const FlameFrame& frame, Column column) const;

  Session& session_;
  bool active_ = false;
  bool stale_ = true;
  std::optional<RankId> rank_;
  std::shared_ptr<const LaneBlocks> blocks_;
  std::shared_ptr<const Run> blocks_of_;
  std::shared_ptr<const FlameTree> tree_;
  std::uint32_t top_ = 0;
  LatestJob job_;
};

}  // namespace rankscope::gui
