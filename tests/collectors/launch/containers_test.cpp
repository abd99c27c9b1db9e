// Commands that start a container.
#include "launch/containers.h"

#include <gmock/gmock.h>

#include <map>

namespace rankscope::collectors {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Lookup in(const Variables& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::string warning(const Words& command, const Variables& variables = {{"HOME", "/home/me"}}) {
  return container_warning(command, in(variables), {"/opt/rankscope/bin/librankscope_inject.so", "/tmp/rankscope-1-x"});
}

TEST(Containers, AreFoundBehindLaunchers) {
  EXPECT_EQ(container_runtime({"apptainer", "exec", "a.sif", "python3"}), "apptainer");
  EXPECT_EQ(container_runtime({"srun", "-n", "4", "/usr/bin/singularity", "run", "a.sif"}), "singularity");
  EXPECT_EQ(container_runtime({"docker", "run", "image"}), "docker");
  EXPECT_EQ(container_runtime({"python3", "docker.py"}), "");
  EXPECT_EQ(container_runtime({"docker", "build", "."}), "");
  EXPECT_EQ(container_runtime({"apptainer", "--quiet", "exec", "a.sif"}), "apptainer");
  EXPECT_EQ(container_runtime({"python3", "install.py", "--tool", "apptainer", ""}), "");
}

TEST(Containers, ValuesOfOptionsBeforeTheActionAreNotTheAction) {
  EXPECT_EQ(container_runtime({"apptainer", "--config", "site.conf", "exec", "a.sif", "python3"}), "apptainer");
  EXPECT_EQ(container_runtime({"singularity", "-q", "-c", "site.conf", "run", "a.sif"}), "singularity");
  EXPECT_EQ(container_runtime({"apptainer", "--config=site.conf", "shell", "a.sif"}), "apptainer");
  EXPECT_EQ(container_runtime({"docker", "--host", "ssh://gpu1", "-l", "error", "run", "image"}), "docker");
  EXPECT_EQ(container_runtime({"docker", "container", "run", "image"}), "docker");
  EXPECT_EQ(container_runtime({"podman", "--root", "exec", "images"}), "") << "a folder of that name";
  EXPECT_EQ(container_runtime({"apptainer", "--config"}), "");
  EXPECT_EQ(warning({"apptainer", "--config", "site.conf", "exec", "--bind", "/opt", "a.sif"}), "");
  EXPECT_THAT(warning({"apptainer", "--config", "site.conf", "exec", "a.sif"}), HasSubstr("--bind /opt/rankscope/bin"));
}

TEST(Containers, AFolderThatIsNotBoundIsSaidWithTheOptionThatBindsIt) {
  EXPECT_EQ(warning({"apptainer", "exec", "a.sif", "python3"}),
            "the apptainer container does not see /opt/rankscope/bin, so nothing in it is recorded; run apptainer with "
            "--bind /opt/rankscope/bin");
}

TEST(Containers, WhatApptainerBindsByItselfIsSeen) {
  EXPECT_EQ(warning({"apptainer", "exec", "a.sif", "python3"}, {{"HOME", "/opt/rankscope"}}), "");
  EXPECT_THAT(warning({"apptainer", "exec", "--no-home", "a.sif"}, {{"HOME", "/opt/rankscope"}}),
              HasSubstr("--bind /opt/rankscope/bin"));
  EXPECT_THAT(warning({"apptainer", "exec", "--contain", "a.sif"}, {{"HOME", "/opt/rankscope"}}),
              HasSubstr("--bind /opt/rankscope/bin,/tmp"));
}

TEST(Containers, WhatTheUserBindsIsSeenWhereItHasTheSamePath) {
  EXPECT_EQ(warning({"apptainer", "exec", "--bind", "/data,/opt/rankscope", "a.sif"}), "");
  EXPECT_EQ(warning({"apptainer", "exec", "-B", "/opt:/opt:ro", "a.sif"}), "");
  EXPECT_EQ(warning({"apptainer", "exec", "--bind=/opt", "a.sif"}), "");
  EXPECT_EQ(warning({"singularity", "exec", "a.sif"}, {{"SINGULARITY_BINDPATH", "/opt"}}), "");
  EXPECT_NE(warning({"apptainer", "exec", "-B", "/opt:/mnt", "a.sif"}), "") << "it is seen elsewhere";
  EXPECT_NE(warning({"apptainer", "exec", "-B", "/opt/rankscope/bi", "a.sif"}), "") << "another folder";
  EXPECT_NE(warning({"apptainer", "exec", "a.sif", "tool", "-B", "/opt"}), "") << "an option of the program";
}

TEST(Containers, OptionsEndAtTheImageWhateverItIsCalled) {
  const Variables home{{"HOME", "/opt/rankscope"}};
  EXPECT_EQ(warning({"apptainer", "exec", "/images/debian", "bash", "-c", "python3 train.py"}, home), "");
  EXPECT_EQ(warning({"singularity", "run", "--nv", "image", "python3", "-C", "--no-home"}, home), "");
  EXPECT_NE(warning({"apptainer", "exec", "image", "tool", "--bind", "/opt"}), "");
  EXPECT_NE(warning({"apptainer", "exec", "--", "-B/opt", "image"}), "");
}

TEST(Containers, ValuesOfOptionsAreNotTheImage) {
  EXPECT_EQ(warning({"apptainer", "exec", "--env", "A=1", "-H", "/home/me", "-B", "/opt", "image"}), "");
  EXPECT_EQ(warning({"apptainer", "exec", "--env=A=1", "--nv", "-eB/opt", "image"}), "");
  EXPECT_THAT(warning({"apptainer", "exec", "-W", "/scratch", "-ec", "image"}, {{"HOME", "/opt/rankscope"}}),
              HasSubstr("--bind /opt/rankscope/bin,/tmp"))
      << "letters can be put together";
}

TEST(Containers, ThoseOfADaemonMustBeRecordedFromInside) {
  EXPECT_THAT(warning({"docker", "run", "image", "python3"}),
              AllOf(HasSubstr("the processes in a docker container do not descend from this command"),
                    HasSubstr("start `rankscope record` inside")));
}

TEST(Containers, ACommandWithoutOneIsSaidNothingOf) { EXPECT_EQ(warning({"torchrun", "train.py"}), ""); }

}  // namespace
}  // namespace rankscope::collectors
