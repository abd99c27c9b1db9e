// A recorded program does what it does alone: its output and its status are the same, in every environment that names a
// rank. What must differ is listed at the end, each with its reason.
#include <gmock/gmock.h>

#include "transparency.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all{
      {"ends_with_a_status", "echo out; exit 3"},
      {"ends_by_a_signal", "kill -XFSZ $$"},
      // What the kernel allows to a process of a single thread only.
      {"makes_a_user_namespace", "unshare -U -r id -u"},
      {"makes_a_user_namespace_after_a_while", "sleep 0.3; exec unshare -U -r id -u"},
      {"changes_its_user", "setpriv --reuid=65534 --clear-groups true"},
      {"runs_in_a_sandbox", "command -v bwrap >/dev/null || exit 0; bwrap --dev-bind / / --unshare-all true"},
      {"enters_strict_seccomp", "$ACTOR strict 0"},
      {"counts_its_threads",
       "python3 -c 'import os, time; time.sleep(0.4); print(len(os.listdir(\"/proc/self/task\")))'"},
      // Ends of the main thread.
      {"ends_its_main_thread_alone", "$ACTOR raw_end 0"},
      {"ends_its_main_thread_alone_after_an_event", "$ACTOR raw_end 1"},
      {"ends_with_its_last_thread", "$ACTOR last_thread 0"},
      {"ends_with_its_last_thread_after_an_event", "$ACTOR last_thread 1"},
      {"ends_with_its_last_thread_and_no_descriptors", "timeout -s KILL 5 $ACTOR closes_all_last_thread 1"},
      // Limits.
      {"may_write_small_files", "ulimit -f 16; $ACTOR burst 100000"},
      {"may_write_files_of_some_size", "ulimit -f 4096; $ACTOR burst 1000000"},
      {"may_write_no_files", "ulimit -f 0; $ACTOR burst 1000 | cat"},
      {"has_few_descriptors", "ulimit -n 12; $ACTOR burst 1000"},
      {"has_no_descriptor_left", "ulimit -n 3; $ACTOR burst 1000"},
      {"has_little_address_space", "ulimit -v 60000; $ACTOR burst 100000"},
      {"has_hardly_a_stack", "ulimit -s 256; $ACTOR burst 1000"},
      // Descriptors.
      {"finds_the_next_descriptor", "$ACTOR next_file 0"},
      {"finds_the_next_descriptor_after_events", "$ACTOR next_file 1000000"},
      {"closes_all_descriptors", "$ACTOR closes_all 20000"},
      {"has_no_standard_input", "exec 0<&-; $ACTOR next_file 0"},
      {"lists_its_descriptors", "python3 -c 'import os; print(os.listdir(\"/proc/self/fd\"))'"},
      // Programs that the library cannot enter.
      {"is_static", "$STATIC 0.01; echo $?"},
      {"has_an_empty_environment", "exec env -i $STATIC 0.01"},
  };
  return all;
}

class Transparency : public ::testing::TestWithParam<std::tuple<Scene, Environment>> {};

TEST_P(Transparency, OutputAndStatusAreThoseOfTheProgramAlone) {
  SKIP_UNDER_SANITIZERS();
  const auto& [scene, environment] = GetParam();
  std::vector<std::unique_ptr<Variable>> variables;
  for (const auto& [name, value] : environment.variables) variables.push_back(std::make_unique<Variable>(name, value));
  EXPECT_EQ(recorded(scene), alone(scene)) << scene.line;
}

INSTANTIATE_TEST_SUITE_P(Every, Transparency,
                         ::testing::Combine(::testing::ValuesIn(scenes()), ::testing::ValuesIn(environments())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_with_" + std::get<1>(info.param).name;
                         });

TEST(Transparent, IsTheRecorderWithNoFollow) {
  SKIP_UNDER_SANITIZERS();
  const Variable rank{"RANK", "0"};
  const Variable world{"WORLD_SIZE", "2"};
  for (const Scene& scene : scenes()) {
    if (!scene.name.starts_with("makes_a_user") && !scene.name.starts_with("ends_its_main")) continue;
    EXPECT_EQ(recorded(scene, {.follow = Follow::command_only}), alone(scene)) << scene.line;
  }
}

TEST(Transparent, IsTheRecorderOfAProgramThatClosesAllDescriptorsAndNothingIsLost) {
  SKIP_UNDER_SANITIZERS();
  const Folder folder;
  const RecordSummary summary =
      record(folder, std::vector<std::string>{program("short_lives"), "closes_all", "20000"}).summary;
  EXPECT_EQ(summary.disk_refusals, 0U);
  EXPECT_GT(summary.events, 80'000U) << "two of each pair";
}

/// What must differ.
struct Difference {
  std::string reason;
  std::string line;
};

const std::vector<Difference> differences{
    {"Variables carry the library and its settings to the processes that the program starts.",
     "env | grep -E '^(RANKSCOPE_|LD_PRELOAD=|NVTX_INJECTION64_PATH=|CUDA_INJECTION64_PATH=|NCCL_PROFILER_PLUGIN=)' | "
     "wc -l"},
    {"The library is mapped into dynamic programs.", "cat /proc/self/maps | grep -c rankscope_inject"},
    {"Orphans of the command are children of the recorder, which still sees them then.",
     "bash -c '(sleep 0.2; read -r _ _ _ parent _ < /proc/self/stat; cat /proc/$parent/comm) & :'; sleep 0.5"},
};

TEST(Transparent, ExceptForAFewThingsThatTheRecordingNeeds) {
  for (const Difference& difference : differences) {
    const Scene scene{"", difference.line};
    EXPECT_NE(recorded(scene).output, alone(scene).output)
        << difference.reason << " If both are equal now, remove it from the list of differences.";
  }
}

}  // namespace
}  // namespace rankscope::collectors
