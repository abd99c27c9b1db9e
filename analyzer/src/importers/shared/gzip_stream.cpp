#include "importers/shared/gzip_stream.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr std::size_t piece_size = std::size_t{64} << 10;
constexpr int most_layers = 4;

}  // namespace

/// One gzip layer, which draws its packed bytes from the file or from the layer around it.
class GzipStream::Layer {
 public:
  explicit Layer(std::string_view file) : file_(file) { begin(); }
  Layer(std::unique_ptr<Layer> outer, std::string first) : outer_(std::move(outer)), piece_(std::move(first)) {
    begin();
    put(piece_);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  std::size_t read(std::span<char> out) {
    state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_.avail_out = static_cast<std::uint32_t>(out.size());
    while (state_.avail_out > 0 && !broken_ && step()) {
    }
    return out.size() - state_.avail_out;
  }
  std::string next_piece() {
    std::string piece(piece_size, '\0');
    piece.resize(read(piece));
    return piece;
  }
  [[nodiscard]] bool incomplete() const {
    return broken_ || !between_members_ || (outer_ != nullptr && outer_->incomplete());
  }

 private:
  void begin() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;  // header, checksum and length are read and checked
  }

  void put(std::string_view packed) {
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
    state_.avail_in = static_cast<std::uint32_t>(packed.size());
  }

  /// More packed bytes; false if there are none.
  bool refill() {
    if (outer_ != nullptr) {
      piece_ = outer_->next_piece();
      put(piece_);
    } else {
      put(file_.substr(0, std::size_t{1} << 30));
      file_.remove_prefix(state_.avail_in);
    }
    return state_.avail_in > 0;
  }

  /// Some writers fill the last block with zeros; that is no member. False at the end of the file.
  bool find_member() {
    do {
      while (state_.avail_in > 0 && *state_.next_in == 0) {
        ++state_.next_in;
        --state_.avail_in;
      }
    } while (state_.avail_in == 0 && refill());
    return state_.avail_in > 0;
  }

  /// Unpacks a little; false if there is nothing left that could be.
  bool step() {
    if (between_members_) {
      if (!find_member()) return false;
      isal_inflate_reset(&state_);
      between_members_ = false;
    }
    if (state_.avail_in == 0) (void)refill();
    const auto in = state_.avail_in;
    const auto out = state_.avail_out;
    broken_ = isal_inflate(&state_) != ISAL_DECOMP_OK;
    between_members_ = state_.block_state == ISAL_BLOCK_FINISH;
    return between_members_ || state_.avail_in != in || state_.avail_out != out;
  }

  inflate_state state_{};
  std::unique_ptr<Layer> outer_;
  std::string piece_;      // of the outer layer, being unpacked
  std::string_view file_;  // what was not unpacked yet
  bool between_members_ = false;
  bool broken_ = false;
};

GzipStream::GzipStream(std::string_view packed) : top_(std::make_unique<Layer>(packed)), first_(top_->next_piece()) {
  for (int layers = 1; layers < most_layers && first_.starts_with(gzip_magic); ++layers) {
    top_ = std::make_unique<Layer>(std::move(top_), std::move(first_));
    first_ = top_->next_piece();
  }
}

GzipStream::~GzipStream() = default;

std::size_t GzipStream::read(std::span<char> out) {
  const std::size_t known = std::min(first_.size(), out.size());
  std::memcpy(out.data(), first_.data(), known);
  first_.erase(0, known);
  return known + top_->read(out.subspan(known));
}

bool GzipStream::incomplete() const { return top_->incomplete(); }

}  // namespace rankscope::analyzer
