#include "alignment/least_squares.h"

#include <cmath>

namespace rankscope::analyzer::clocks {
namespace {

using Vector = std::vector<double>;

/// The normal equations: a sparse symmetric matrix, never written out, so that thousands of clocks cost little.
class Normal {
 public:
  Normal(std::span<const Difference> differences, const std::vector<bool>& fixed)
      : differences_(differences), fixed_(fixed), diagonal_(fixed.size(), 0) {
    for (const Difference& one : differences) {
      diagonal_[one.a] += one.weight;
      diagonal_[one.b] += one.weight;
    }
  }
  [[nodiscard]] Vector right_side() const {
    Vector result(fixed_.size(), 0);
    for (const Difference& one : differences_) {
      result[one.a] -= one.weight * one.value;
      result[one.b] += one.weight * one.value;
    }
    return free_of_fixed(std::move(result));
  }
  [[nodiscard]] Vector times(const Vector& x) const {
    Vector result(fixed_.size(), 0);
    for (const Difference& one : differences_) {
      const double pull = one.weight * (x[one.b] - x[one.a]);
      result[one.a] -= pull;
      result[one.b] += pull;
    }
    return free_of_fixed(std::move(result));
  }
  /// A coarse inverse (of the diagonal).
  [[nodiscard]] Vector eased(const Vector& x) const {
    Vector result = x;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = diagonal_[i] > 0 ? x[i] / diagonal_[i] : 0;
    return result;
  }

 private:
  [[nodiscard]] Vector free_of_fixed(Vector x) const {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (fixed_[i]) x[i] = 0;
    return x;
  }
  std::span<const Difference> differences_;
  const std::vector<bool>& fixed_;
  Vector diagonal_;
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(Vector& to, double factor, const Vector& more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * more[i];
}

}  // namespace

// Conjugate gradients: exact after as many rounds as there are positions, in practice after a few.
std::vector<double> positions_of(std::span<const Difference> differences, const std::vector<bool>& fixed) {
  const Normal normal{differences, fixed};
  Vector x(fixed.size(), 0);
  Vector rest = normal.right_side();
  Vector eased = normal.eased(rest);
  Vector direction = eased;
  double size = dot(rest, eased);
  const double enough = 1e-24 * size;
  for (std::size_t round = 0; round < 2 * fixed.size() + 10 && size > enough; ++round) {
    const Vector pulled = normal.times(direction);
    const double bend = dot(direction, pulled);
    if (!(bend > 0) || !std::isfinite(bend)) break;
    const double step = size / bend;
    add(x, step, direction);
    add(rest, -step, pulled);
    eased = normal.eased(rest);
    const double next = dot(rest, eased);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = eased[i] + next / size * direction[i];
    size = next;
  }
  return x;
}

}  // namespace rankscope::analyzer::clocks
