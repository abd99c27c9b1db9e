// Plays one scene of NVTX calls, named by its first argument.
#include "nvtx_actor.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

extern "C" void say_copy_a();
extern "C" void say_copy_b();

namespace {

nvtxEventAttributes_t event_of(const char* message) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}

int levels(int, char**) {
  const int outer = nvtxRangePushA("outer");
  const int inner = nvtxRangePushW(L"innen \u00e4\u20ac\U0001F600");
  const int left_inner = nvtxRangePop();
  const int left_outer = nvtxRangePop();
  return outer == 0 && inner == 1 && left_inner == 1 && left_outer == 0 ? 0 : 1;
}

int without_recorder(int, char**) {
  const bool idle = nvtxRangePushA("outer") == NVTX_NO_PUSH_POP_TRACKING && nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING;
  return idle && nvtxDomainCreateA("d") == nullptr && nvtxRangeStartA("r") == 0 ? 0 : 1;
}

int start_end(int, char**) {
  const nvtxRangeId_t first = nvtxRangeStartA("first");
  const nvtxRangeId_t second = nvtxRangeStartW(L"second");
  std::thread{[&] { nvtxRangeEnd(first); }}.join();  // ends on another thread
  nvtxRangeEnd(second);
  nvtxRangeId_t third = 0;
  std::thread{[&] { third = nvtxRangeStartA("third"); }}.join();  // starts on another thread
  nvtxRangeEnd(third);
  return first != 0 && second != 0 && first != second ? 0 : 1;
}

int marks(int, char**) {
  nvtxMarkA("narrow");
  nvtxMarkW(L"wide");
  const nvtxEventAttributes_t event = event_of("event");
  nvtxMarkEx(&event);
  return 0;
}

int attributes(int, char**) {
  nvtxNameCategoryA(7, "io");
  nvtxEventAttributes_t event = event_of("described");
  event.category = 7;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF112233;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = -5;
  nvtxRangePushEx(&event);
  nvtxRangePop();
  event = event_of("real");
  event.category = 9;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 2.5;
  nvtxRangePushEx(&event);
  nvtxRangePop();
  return 0;
}

int domains(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  const nvtxDomainHandle_t wide = nvtxDomainCreateW(L"wide");
  nvtxDomainNameCategoryA(domain, 3, "parse");
  nvtxEventAttributes_t event = event_of(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  event.category = 3;
  const nvtxEventAttributes_t plain = event_of("in wide");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePushEx(wide, &plain);
  nvtxDomainRangePop(wide);
  nvtxDomainRangePop(domain);
  nvtxDomainMarkEx(domain, &plain);
  const nvtxRangeId_t range = nvtxDomainRangeStartEx(domain, &plain);
  nvtxDomainRangeEnd(domain, range);
  nvtxDomainDestroy(domain);
  nvtxInitialize(nullptr);
  return domain != nullptr && wide != nullptr && domain != wide && event.message.registered != nullptr ? 0 : 1;
}

/// What does nothing without a tool: no attributes, no message.
int nothing_given(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const nvtxEventAttributes_t empty{};
  for (const nvtxEventAttributes_t* const event : {static_cast<const nvtxEventAttributes_t*>(nullptr), &empty}) {
    nvtxMarkEx(event);
    nvtxRangeEnd(nvtxRangeStartEx(event));
    nvtxRangePushEx(event);
    nvtxRangePop();
    nvtxDomainMarkEx(domain, event);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, event));
    nvtxDomainRangePushEx(domain, event);
    nvtxDomainRangePop(domain);
  }
  nvtxDomainResourceCreate(domain, nullptr);
  nvtxRangePushA(nullptr);
  nvtxRangePop();
  nvtxMarkA(nullptr);
  return 0;
}

int interleaved(int, char**) {
  const nvtxDomainHandle_t a = nvtxDomainCreateA("a");
  const nvtxDomainHandle_t b = nvtxDomainCreateA("b");
  const nvtxEventAttributes_t first = event_of("of a");
  const nvtxEventAttributes_t second = event_of("of b");
  nvtxDomainRangePushEx(a, &first);
  nvtxDomainRangePushEx(b, &second);
  nvtxDomainRangePop(a);  // under b's
  nvtxDomainRangePop(b);
  nvtxRangePushA("after");
  nvtxRangePop();
  return 0;
}

int three_copies(int, char**) {
  nvtxRangePushA("own copy");
  say_copy_a();
  say_copy_b();
  nvtxRangePop();
  return 0;
}

int named_thread(int, char**) {
  std::thread{[] {
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "loader 3");
    nvtxRangePushA("work");
    nvtxRangePop();
  }}.join();
  return 0;
}

/// pushes N: N pairs, of few names.
int pushes(int, char** words) {
  for (int i = std::stoi(words[0]); i > 0; --i) {
    nvtxRangePushA(i % 2 == 0 ? "even" : "odd");
    nvtxRangePop();
  }
  return 0;
}

/// steps N: N steps with work inside, some work between them.
int steps(int, char** words) {
  const int all = std::stoi(words[0]);
  for (int i = 0; i < all; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "step %d", i);
    nvtxRangePushA(name);
    nvtxRangePushA("work");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushA("between");
    nvtxRangePop();
  }
  return 0;
}

/// open_over_window: a range that is open while the window of steps opens and shuts.
int open_over_window(int, char**) {
  nvtxRangePushA("around");
  char none[] = "4";
  char* words[] = {none};
  steps(1, words);
  nvtxRangePop();
  nvtxRangePop();  // one too many
  return 0;
}

/// threads N: N threads, one after the other, each with a range.
int threads(int, char** words) {
  for (int i = std::stoi(words[0]); i > 0; --i) {
    std::thread{[] {
      nvtxRangePushA("short life");
      nvtxRangePop();
    }}.join();
  }
  return 0;
}

struct LateSpeaker {
  ~LateSpeaker() {
    nvtxRangePushA("from a destructor");
    nvtxRangePop();
  }
};

int late(int, char**) {
  static LateSpeaker at_exit;
  nvtxRangePushA("first");
  nvtxRangePop();
  std::thread{[] {
    thread_local LateSpeaker at_thread_end;
    static_cast<void>(&at_thread_end);
  }}.join();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, Scene> scenes{
      {"levels", levels},
      {"without_recorder", without_recorder},
      {"start_end", start_end},
      {"marks", marks},
      {"attributes", attributes},
      {"domains", domains},
      {"interleaved", interleaved},
      {"nothing_given", nothing_given},
      {"three_copies", three_copies},
      {"named_thread", named_thread},
      {"pushes", pushes},
      {"steps", steps},
      {"threads", threads},
      {"late", late},
      {"open_over_window", open_over_window},
  };
  add_payload_scenes(scenes);
  add_ending_scenes(scenes);
  const auto scene = scenes.find(count > 1 ? words[1] : "");
  if (scene != scenes.end()) return scene->second(count - 2, words + 2);
  std::fprintf(stderr, "nvtx_actor: no such scene\n");
  return 99;
}
