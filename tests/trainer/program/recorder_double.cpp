// A recorder for tests: writes each call of the annotation API as a line "ns thread event details" to the file
// RANKSCOPE_DOUBLE_FOLDER/rank-RANK.txt.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "rankscope/collectors/annotate.h"

namespace {

std::mutex file_mutex;
thread_local std::string thread_name = "unnamed";

std::FILE* output() {
  static std::FILE* const file = [] {
    const char* folder = std::getenv("RANKSCOPE_DOUBLE_FOLDER");
    const char* rank = std::getenv("RANK");
    const std::string path =
        std::string{folder != nullptr ? folder : "."} + "/rank-" + (rank != nullptr ? rank : "none") + ".txt";
    return std::fopen(path.c_str(), "we");
  }();
  return file;
}

void line(const std::string& text) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::lock_guard lock{file_mutex};
  if (output() == nullptr) return;
  std::fprintf(output(), "%lld\t%s\t%s\n", static_cast<long long>(now.tv_sec) * 1000000000LL + now.tv_nsec,
               thread_name.c_str(), text.c_str());
  std::fflush(output());
}

constexpr const char* kinds[] = {"user", "step", "data", "forward", "backward",  "optimizer",
                                 "op",   "wait", "sync", "loader",  "checkpoint"};

void push(std::uint8_t kind, const char* name, std::uint32_t length) {
  line(std::string{"push\t"} + kinds[kind] + "\t" + std::string{name, length});
}
void pop() { line("pop"); }
void mark(const char* name, std::uint32_t length) { line("mark\t" + std::string{name, length}); }
void attribute_int(const char* key, std::int64_t value) {
  line(std::string{"attribute\t"} + key + "\t" + std::to_string(value));
}
void attribute_text(const char* key, const char* value, std::uint32_t length) {
  line(std::string{"attribute\t"} + key + "\t" + std::string{value, length});
}
void counter(const char* name, double value) { line(std::string{"counter\t"} + name + "\t" + std::to_string(value)); }
void collective_enqueued(const rankscope_collective_v1* c) {
  line("enqueued\t" + std::to_string(c->uid) + "\t" + c->group + "\t" + std::to_string(c->sequence) + "\t" + c->op +
       "\t" + std::to_string(c->bytes) + "\t" + c->dtype + "\t" + c->members + "\t" + std::to_string(c->peer));
}
void collective_started(std::uint64_t uid) { line("started\t" + std::to_string(uid)); }
void collective_finished(std::uint64_t uid) { line("finished\t" + std::to_string(uid)); }
void name_thread(const char* name) { thread_name = name; }
void metadata(const char* key, const char* value) { line(std::string{"metadata\t"} + key + "\t" + value); }
int is_recording() { return 1; }
std::uint32_t details() {
  const char* bits = std::getenv("RANKSCOPE_DOUBLE_DETAILS");
  return bits != nullptr ? static_cast<std::uint32_t>(std::stoi(bits)) : 0;
}
void mark_attribute_int(const char* key, std::int64_t value) {
  line(std::string{"mark_attribute\t"} + key + "\t" + std::to_string(value));
}

void optimizer_stepped(std::int64_t n) { line("optimizer_stepped\t" + std::to_string(n)); }

constexpr rankscope_api_v1 api{.version = 1,
                               .size = sizeof(rankscope_api_v1),
                               .push = push,
                               .pop = pop,
                               .mark = mark,
                               .attribute_int = attribute_int,
                               .attribute_text = attribute_text,
                               .counter = counter,
                               .collective_enqueued = collective_enqueued,
                               .collective_started = collective_started,
                               .collective_finished = collective_finished,
                               .name_thread = name_thread,
                               .metadata = metadata,
                               .is_recording = is_recording,
                               .details = details,
                               .attribute_json = attribute_text,
                               .mark_attribute_int = mark_attribute_int,
                               .optimizer_stepped = optimizer_stepped,
                               .c10d_observe = nullptr,
                               .c10d_group = nullptr,
                               .holds_cupti = nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const rankscope_api_v1* rankscope_api() { return &api; }
