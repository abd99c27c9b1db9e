// Arrows from a span to the span that it caused: Run::links() as a timeline can show them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// When the target of a link begins on the drawing; nothing if no arrow can be drawn. Viewers find the direction of an
/// arrow by time, so a kernel stamped before its launch (clocks of host and device differ by a little) is drawn from
/// the nanosecond after its launch on, if that stays inside it and before the next span of its lane.
[[nodiscard]] std::optional<RunTime> drawn_begin(const Run& run, const Link& link);

/// Links by the span they leave, which Run does not keep in order.
class LinksByOrigin {
 public:
  explicit LinksByOrigin(const Run& run);
  /// Rows of Run::links(), sorted by origin.
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }

 private:
  std::vector<std::uint32_t> rows_;
};

/// Walks over the links of ascending spans.
class LinkCursor {
 public:
  LinkCursor(const Run& run, const LinksByOrigin& origins, SpanId first);

  /// Calls `visit(row of Run::links())` for every link that leaves the span; spans must ascend.
  template <class Visit>
  void leaving(SpanId span, Visit visit) {
    while (from_ < origins_.size() && links_[origins_[from_]].from < span) ++from_;
    for (; from_ < origins_.size() && links_[origins_[from_]].from == span; ++from_) visit(origins_[from_]);
  }
  /// The same for every link that leads to the span.
  template <class Visit>
  void arriving(SpanId span, Visit visit) {
    for (std::size_t k = 0; k < link_kind_count; ++k) {
      const auto kind = static_cast<LinkKind>(k);
      std::size_t& at = to_[k];
      while (at < links_.size() && links_[at].kind == kind && links_[at].to < span) ++at;
      for (; at < links_.size() && links_[at].kind == kind && links_[at].to == span; ++at)
        visit(static_cast<std::uint32_t>(at));
    }
  }

 private:
  std::span<const Link> links_;
  std::span<const std::uint32_t> origins_;
  std::size_t from_ = 0;
  std::size_t to_[link_kind_count] = {};
};

}  // namespace rankscope::analyzer
