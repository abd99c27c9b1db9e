// What the launcher does for programs that import PyTorch, and says about them; no program runs here.
#include "launch/pytorch.h"

#include <gmock/gmock.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Pair;

TEST(PyTorchLaunch, SaysWhereOnlyOperatorsAreMissing) {
  std::vector<std::string> notes;
  note_pytorch({.operators = false, .steps = true}, PyTorch::expected, notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("PyTorch: steps were recorded, but no operators")));
  notes.clear();
  note_pytorch({.operators = true, .steps = true}, PyTorch::expected, notes);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(PyTorchLaunch, SaysTheProblemsOfAllProcessesOnce) {
  PyTorchSeen seen;
  learn_pytorch(seen, {{"pytorch_problem", "no ITT; no memory"}});
  learn_pytorch(seen, {{"pytorch_steps", "optimizer"}});
  learn_pytorch(seen, {{"pytorch_problem", "no collectives; no ITT"}});
  learn_pytorch(seen, {{"pytorch_problem", "no"}});
  EXPECT_EQ(seen.problem, "no ITT; no memory; no collectives; no");
}

TEST(PyTorchLaunch, RefusesASpoolThatPythonpathCannotName) {
  const Folder folder;
  fs::create_directory(folder / "a:b");
  const auto hook = write_pytorch_hook(folder / "a:b");
  ASSERT_FALSE(hook);
  EXPECT_THAT(hook.error().message, AllOf(HasSubstr("a:b contains a colon"), HasSubstr("RANKSCOPE_SPOOL")));
}

TEST(PyTorchLaunch, IsHandedIntoContainersInFrontOfWhatTheUserSetsThere) {
  const auto lookup = [](const char* name) -> const char* {
    if (std::string_view{name} == "PYTHONPATH") return "/mine";
    return std::string_view{name} == "SINGULARITYENV_PYTHONPATH" ? "/in/image" : nullptr;
  };
  const auto environment = command_environment(lookup, {.collect = all_sources()}, "/l/librankscope_inject.so",
                                               Preload::yes, "/spool/python");
  EXPECT_THAT(
      environment.variables,
      IsSupersetOf({Pair("PYTHONPATH", "/spool/python:/mine"), Pair("APPTAINERENV_PYTHONPATH", "/spool/python:/mine"),
                    Pair("SINGULARITYENV_PYTHONPATH", "/spool/python:/in/image"),
                    Pair("APPTAINERENV_INTEL_LIBITTNOTIFY64", "/l/librankscope_inject.so")}));
  EXPECT_EQ(pytorch_container_warning("apptainer", lookup), "") << "the user knows";
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  EXPECT_THAT(pytorch_container_warning("apptainer", nothing),
              HasSubstr("set APPTAINERENV_PYTHONPATH to the image's folders"));
  EXPECT_EQ(pytorch_container_warning("", nothing), "");
}

TEST(PyTorchLaunch, DoesNotHideModulesOfAnImageFromAJobThatDidNotAskForIt) {
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const Folder folder;
  RecordOptions options{.command = {"apptainer", "exec", "image.sif", "python3", "train.py"}};
  const auto unasked = pytorch_hook(options, all_sources(), folder.path(), nothing);
  ASSERT_TRUE(unasked);
  EXPECT_EQ(unasked->folder, "");
  EXPECT_THAT(unasked->why_not, HasSubstr("recorded only with --pytorch"));
  options.pytorch = PyTorch::expected;
  const auto asked = pytorch_hook(options, all_sources(), folder.path(), nothing);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->folder, folder / "python");
}

TEST(PyTorchLaunch, KeepsAnotherTracerOfItt) {
  CommandEnvironment environment;
  const auto lookup = [](const char* name) {
    return std::string_view{name} == "INTEL_LIBITTNOTIFY64" ? "/opt/vtune/libittnotify_collector.so" : nullptr;
  };
  add_pytorch(environment, lookup, "/spool/python", "/l/librankscope_inject.so");
  EXPECT_THAT(environment.variables, ElementsAre(Pair("PYTHONPATH", "/spool/python")));
  EXPECT_THAT(environment.warnings,
              ElementsAre(HasSubstr("libittnotify_collector.so and was not changed, so operators of PyTorch")));
}

}  // namespace
}  // namespace rankscope::collectors
