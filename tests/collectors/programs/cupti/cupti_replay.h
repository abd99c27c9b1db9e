// A file of RANKSCOPE_CUPTI_DUMP, read for the stand-in of libcupti, which hands its buffers back once more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cupti/dump_format.h"

namespace rankscope::testing {

class Replay {
 public:
  struct Block {
    std::vector<std::uint8_t> content;
    std::vector<std::uint32_t> offsets;

    /// To the next record, as cuptiActivityGetNextRecord does.
    bool step(std::uint8_t* buffer, void** record) const {
      std::size_t next = 0;
      if (*record != nullptr) {
        const auto at = static_cast<std::uint32_t>(static_cast<std::uint8_t*>(*record) - buffer);
        while (next < offsets.size() && offsets[next] <= at) ++next;
      }
      if (next >= offsets.size()) return false;
      *record = buffer + offsets[next];
      return true;
    }
  };

  /// That of STANDIN_CUPTI_REPLAY; null without.
  static Replay* asked_for() {
    static Replay* const only = [] {
      const char* const path = std::getenv("STANDIN_CUPTI_REPLAY");
      return path == nullptr ? nullptr : new Replay{path};
    }();
    return only;
  }

  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] std::uint64_t last_clock() const { return last_clock_; }
  [[nodiscard]] std::vector<Block>& blocks() { return blocks_; }
  [[nodiscard]] const char* call_name(int domain, std::uint32_t number) const {
    const auto found = calls_.find({domain, number});
    return found == calls_.end() ? nullptr : found->second.c_str();
  }

  const Block* being_read = nullptr;

 private:
  explicit Replay(const char* path) {
    std::ifstream file{path, std::ios::binary};
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
    while (at_ < bytes_.size()) read_block();
    if (blocks_.empty()) refuse("it holds no buffer");
  }

  [[noreturn]] static void refuse(const char* why) {
    std::fprintf(stderr, "cupti_replay: %s\n", why);
    std::abort();
  }

  template <class T>
  std::vector<T> take(std::size_t count) {
    if (count > (bytes_.size() - at_) / sizeof(T)) refuse("a buffer is cut off");
    std::vector<T> found(count);
    if (count > 0) std::memcpy(found.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return found;
  }

  void read_block() {
    const auto head = take<collectors::cupti::DumpHead>(1)[0];
    if (head.magic != head.magic_of_1) refuse("it is no dump of activity records");
    Block block{.content = take<std::uint8_t>(head.used), .offsets = take<std::uint32_t>(head.records)};
    const auto places = take<collectors::cupti::DumpedText>(head.texts);
    const auto texts = take<char>(head.text_bytes);
    for (const auto& place : places) {
      if (place.begin > texts.size() || place.length > texts.size() - place.begin) refuse("a text lies outside");
      names_.emplace_back(texts.data() + place.begin, place.length);
      put(block, place.field, names_.back());
    }
    version_ = head.version;
    last_clock_ = head.clock;
    blocks_.push_back(std::move(block));
  }

  /// A name in place of the address that it had, or kept for the call whose number stands there.
  void put(Block& block, std::uint32_t field, const std::string& name) {
    const auto behind = std::upper_bound(block.offsets.begin(), block.offsets.end(), field);
    const char* const address = name.c_str();
    if (behind == block.offsets.begin() || field + sizeof address > block.content.size())
      refuse("a text has no record");
    std::uint32_t kind = 0, number = 0;
    std::memcpy(&kind, block.content.data() + *(behind - 1), sizeof kind);
    std::memcpy(&number, block.content.data() + field, sizeof number);
    if (kind == 4 || kind == 5)
      calls_[{kind == 4 ? 1 : 2, number}] = name;
    else
      std::memcpy(block.content.data() + field, &address, sizeof address);
  }

  std::string bytes_;
  std::size_t at_ = 0;
  std::uint32_t version_ = 0;
  std::uint64_t last_clock_ = 0;
  std::vector<Block> blocks_;
  std::list<std::string> names_;  // whose addresses are in the blocks
  std::map<std::pair<int, std::uint32_t>, std::string> calls_;
};

}  // namespace rankscope::testing
