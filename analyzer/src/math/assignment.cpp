#include "math/assignment.h"

#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// Rows are added one by one. Each takes the cheapest path of exchanges that ends at a free column (Dijkstra). The
/// prices of rows and columns keep what remains of each cost above or at 0, and at 0 for the pairs that are made.
class Assignment {
 public:
  Assignment(std::span<const double> costs, std::size_t size)
      : costs_(costs),
        size_(size),
        row_price_(size, 0),
        column_price_(size, 0),
        column_of_(size, nowhere),
        row_of_(size, nowhere) {}

  /// False if the row finds no column.
  [[nodiscard]] bool add(std::size_t row) {
    distance_.assign(size_, impossible);
    from_row_.assign(size_, nowhere);
    settled_.assign(size_, false);
    reach_from(row, 0);
    for (std::size_t column = nearest(); column != nowhere; column = nearest()) {
      if (row_of_[column] == nowhere) {
        change_prices(row, distance_[column]);
        exchange(row, column);
        return true;
      }
      settled_[column] = true;
      reach_from(row_of_[column], distance_[column]);
    }
    return false;
  }

  [[nodiscard]] std::vector<std::size_t> columns() && { return std::move(column_of_); }

 private:
  void reach_from(std::size_t row, double so_far) {
    for (std::size_t column = 0; column < size_; ++column) {
      const double rest = costs_[row * size_ + column] - row_price_[row] - column_price_[column];
      if (settled_[column] || !(so_far + rest < distance_[column])) continue;
      distance_[column] = so_far + rest;
      from_row_[column] = row;
    }
  }

  /// Of the columns that were reached and not settled.
  [[nodiscard]] std::size_t nearest() const {
    std::size_t best = nowhere;
    for (std::size_t column = 0; column < size_; ++column)
      if (!settled_[column] && distance_[column] < impossible &&
          (best == nowhere || distance_[column] < distance_[best]))
        best = column;
    return best;
  }

  void change_prices(std::size_t added, double length) {
    row_price_[added] += length;
    for (std::size_t column = 0; column < size_; ++column) {
      if (!settled_[column]) continue;
      row_price_[row_of_[column]] += length - distance_[column];
      column_price_[column] -= length - distance_[column];
    }
  }

  /// Hands columns on along the path that ends at `column`.
  void exchange(std::size_t added, std::size_t column) {
    while (true) {
      const std::size_t row = from_row_[column];
      const std::size_t left = column_of_[row];
      row_of_[column] = row;
      column_of_[row] = column;
      if (row == added) return;
      column = left;
    }
  }

  std::span<const double> costs_;
  std::size_t size_;
  std::vector<double> row_price_;
  std::vector<double> column_price_;
  std::vector<std::size_t> column_of_;  // by row
  std::vector<std::size_t> row_of_;     // by column
  std::vector<double> distance_;        // of each column from the row that is added
  std::vector<std::size_t> from_row_;   // by which the column was reached
  std::vector<bool> settled_;
};

}  // namespace

std::optional<std::vector<std::size_t>> cheapest_assignment(std::span<const double> costs, std::size_t size) {
  Assignment assignment{costs, size};
  for (std::size_t row = 0; row < size; ++row)
    if (!assignment.add(row)) return std::nullopt;
  return std::move(assignment).columns();
}

}  // namespace rankscope::analyzer
