#include "inject/cupti/dump.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/dump_format.h"
#include "cupti/records.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::cupti {
namespace {

using collectors::cupti::CallDomain;
using collectors::cupti::DumpedText;
using collectors::cupti::DumpHead;
using collectors::cupti::Kind;
using collectors::cupti::Library;
using collectors::cupti::named_at;

constexpr std::size_t most_bytes = std::size_t{4} << 20;

template <class T>
T read_at(std::span<const std::uint8_t> buffer, std::size_t offset) {
  T value{};
  std::memcpy(&value, buffer.data() + offset, sizeof value);
  return value;
}

/// What records of a buffer point to, each text once.
class Texts {
 public:
  void add(std::uint32_t field, std::string_view text) {
    const auto [found, added] = begins_.try_emplace(std::string{text}, static_cast<std::uint32_t>(all_.size()));
    if (added) all_ += text;
    places_.push_back({.field = field, .begin = found->second, .length = static_cast<std::uint32_t>(text.size())});
  }
  [[nodiscard]] const std::vector<DumpedText>& places() const { return places_; }
  [[nodiscard]] const std::string& all() const { return all_; }

 private:
  std::map<std::string, std::uint32_t> begins_;
  std::vector<DumpedText> places_;
  std::string all_;
};

const char* name_in(const Library& library, std::span<const std::uint8_t> buffer, std::uint32_t kind,
                    std::size_t field) {
  const bool is_driver = kind == static_cast<std::uint32_t>(Kind::driver);
  if (!is_driver && kind != static_cast<std::uint32_t>(Kind::runtime))
    return reinterpret_cast<const char*>(read_at<std::uintptr_t>(buffer, field));  // NOLINT(performance-no-int-to-ptr)
  const char* name = nullptr;
  const auto domain = static_cast<int>(is_driver ? CallDomain::driver : CallDomain::runtime);
  const int status = library.call.callback_name(domain, read_at<std::uint32_t>(buffer, field), &name);
  return status == collectors::cupti::result::success ? name : nullptr;
}

void append(std::string& block, const void* data, std::size_t bytes) {
  block.append(static_cast<const char*>(data), bytes);
}

std::string block_of(const Library& library, std::span<std::uint8_t> buffer) {
  std::vector<std::uint32_t> offsets;
  Texts texts;
  void* record = nullptr;
  while (library.call.next_record(buffer.data(), buffer.size(), &record) == collectors::cupti::result::success) {
    const auto offset = static_cast<std::size_t>(static_cast<std::uint8_t*>(record) - buffer.data());
    offsets.push_back(static_cast<std::uint32_t>(offset));
    const auto kind = read_at<std::uint32_t>(buffer, offset);
    const std::size_t field = offset + named_at(kind);
    if (field == offset || field + sizeof(std::uintptr_t) > buffer.size()) continue;
    if (const char* const name = name_in(library, buffer, kind, field))
      texts.add(static_cast<std::uint32_t>(field), name);
  }
  DumpHead head{.version = library.version, .records = static_cast<std::uint32_t>(offsets.size())};
  head.used = buffer.size();
  head.texts = static_cast<std::uint32_t>(texts.places().size());
  head.text_bytes = static_cast<std::uint32_t>(texts.all().size());
  library.call.get_timestamp(&head.clock);
  std::string block;
  append(block, &head, sizeof head);
  append(block, buffer.data(), buffer.size());
  append(block, offsets.data(), offsets.size() * sizeof offsets[0]);
  append(block, texts.places().data(), texts.places().size() * sizeof(DumpedText));
  return block + texts.all();
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// What went wrong; empty if nothing did.
std::string append_to(const char* path, const std::string& block) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return "the file cannot be written";
  struct stat state {};
  const bool known = fstat(file, &state) == 0;
  const bool fits = known && static_cast<std::size_t>(state.st_size) + block.size() <= most_bytes;
  const bool written = fits && write_all(file, block);
  ::close(file);
  if (written) return {};
  return known && !fits ? format("the file was cut off: its size is limited to {} MiB", most_bytes >> 20)
                        : "the file cannot be written";
}

}  // namespace

void dump_if_asked(const Library& library, std::span<std::uint8_t> buffer) {
  static const char* const path = std::getenv("RANKSCOPE_CUPTI_DUMP");
  if (path == nullptr || buffer.empty()) return;
  static std::mutex* const writing = new std::mutex;  // of a process; nothing that it covers asks CUPTI for a buffer
  const std::lock_guard lock(*writing);
  static bool is_said = false;
  const std::string problem = append_to(path, block_of(library, buffer));
  ThreadState* const state = here();
  if (problem.empty() || state == nullptr || is_said) return;
  is_said = true;
  state->pen().metadata("cupti_dump_problem", problem);
}

}  // namespace rankscope::inject::cupti
