// SPDX-License-Identifier: Apache-2.0
#include "host/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hocket::host {
namespace {

Result<Environment> parse(std::vector<const char*> variables) {
  variables.push_back(nullptr);
  return parse_environment(variables.data());
}

TEST(Config, NothingSaidIsTheDefaults) {
  const Result<Environment> environment = parse({"PATH=/bin", "HOME=/", "NOT_HOCKET_LOG=3"});
  EXPECT_EQ(environment->config, Config());
  EXPECT_EQ(environment->warnings.size(), 0u);
}

TEST(Config, EveryVariable) {
  const Result<Environment> environment =
      parse({"HOCKET_LOG=trace", "HOCKET_ALGO=two_level(ring,halving_doubling)",
             "HOCKET_CHANNELS=2", "HOCKET_SLICE_BYTES=512K", "HOCKET_RANKS_PER_NODE=4",
             "HOCKET_TIMEOUT_MS=30000", "HOCKET_INIT_TIMEOUT_MS=5", "HOCKET_SHM_CMA=0",
             "HOCKET_SHM_CREDITS=1", "HOCKET_SHM_STAGED_BYTES=1G", "HOCKET_TRACE_EVENTS=64"});
  Config expected;
  expected.log = LogLevel::trace;
  expected.algorithm = "two_level(ring,halving_doubling)";
  expected.channels = 2;
  expected.slice_bytes = 524'288;
  expected.ranks_per_node = 4;
  expected.op_timeout = seconds(30);
  expected.init_timeout = milliseconds(5);
  expected.shm_cross_memory = false;
  expected.shm_credits = 1;
  expected.shm_staged_bytes = 1'073'741'824;
  expected.trace_events = 64;
  EXPECT_EQ(environment->config, expected);
  EXPECT_EQ(environment->warnings.size(), 0u);
}

TEST(Config, ZeroWhereItMeansSomething) {
  const Result<Environment> environment =
      parse({"HOCKET_SLICE_BYTES=0", "HOCKET_RANKS_PER_NODE=0", "HOCKET_TIMEOUT_MS=0"});
  EXPECT_EQ(environment->config, Config());
}

TEST(Config, AnEmptyValueIsAsGoodAsNone) {
  EXPECT_EQ(parse({"HOCKET_CHANNELS=", "HOCKET_LOG=", "HOCKET_ALGO="})->config, Config());
}

std::string refusal(const char* variable) {
  Result<Environment> environment = parse({variable});
  return environment ? "accepted" : environment.error().text();
}

TEST(Config, ErrorsNameTheVariableItsValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal("HOCKET_LOG=info"),
            "invalid argument: HOCKET_LOG is 'info', not none, warn or trace");
  EXPECT_EQ(refusal("HOCKET_ALGO=ring two"),
            "invalid argument: HOCKET_ALGO is 'ring two', not an algorithm's name");
  EXPECT_EQ(refusal("HOCKET_CHANNELS=0"), "invalid argument: HOCKET_CHANNELS is '0', not 1 to 64");
  EXPECT_EQ(refusal("HOCKET_CHANNELS=1K"),
            "invalid argument: HOCKET_CHANNELS is '1K', not 1 to 64");
  EXPECT_EQ(refusal("HOCKET_SHM_CMA=yes"), "invalid argument: HOCKET_SHM_CMA is 'yes', not 0 or 1");
  EXPECT_EQ(refusal("HOCKET_SLICE_BYTES=8"),
            "invalid argument: HOCKET_SLICE_BYTES is '8', not 64 to 1G bytes;"
            " 0: the transport's choice");
  EXPECT_EQ(refusal("HOCKET_TIMEOUT_MS=-1"),
            "invalid argument: HOCKET_TIMEOUT_MS is '-1', not 1 to 2147483647 ms; 0: for ever");
  EXPECT_EQ(refusal("HOCKET_TRACE_EVENTS=1000"),
            "invalid argument: HOCKET_TRACE_EVENTS is '1000', not a power of two, 64 to 16777216");
}

TEST(Config, NumbersAreWholeAndInRange) {
  for (const char* variable :
       {"HOCKET_CHANNELS=65", "HOCKET_CHANNELS=4 ", "HOCKET_CHANNELS= 4", "HOCKET_CHANNELS=+4",
        "HOCKET_CHANNELS=4.0", "HOCKET_CHANNELS=0x4", "HOCKET_CHANNELS=18446744073709551617",
        "HOCKET_SLICE_BYTES=K", "HOCKET_SLICE_BYTES=1KK", "HOCKET_SLICE_BYTES=1k",
        "HOCKET_SLICE_BYTES=18446744073709551615G", "HOCKET_INIT_TIMEOUT_MS=0"}) {
    EXPECT_NE(refusal(variable), "accepted") << variable;
  }
  EXPECT_EQ(refusal("HOCKET_CHANNELS=64"), "accepted");
}

TEST(Config, UnknownNamesWarn) {
  const Result<Environment> environment = parse({"HOCKET_CHANELS=4", "HOCKET_=", "HOCKET_ODD"});
  EXPECT_EQ(environment->config, Config());
  EXPECT_EQ(environment->warnings,
            (std::vector<std::string>{"HOCKET_CHANELS is no variable of Hocket's"
                                      " (docs/ENVIRONMENT.md)",
                                      "HOCKET_ is no variable of Hocket's (docs/ENVIRONMENT.md)",
                                      "HOCKET_ODD is no variable of Hocket's"
                                      " (docs/ENVIRONMENT.md)"}));
}

TEST(Config, ReadsTheProcessesEnvironment) {
  ASSERT_EQ(setenv("HOCKET_CHANNELS", "7", 1), 0);
  EXPECT_EQ(read_environment()->config.channels, 7u);
  ASSERT_EQ(unsetenv("HOCKET_CHANNELS"), 0);
  EXPECT_EQ(read_environment()->config.channels, 4u);
}

TEST(Config, TheDocumentIsTheTable) {
  std::ifstream file(HOCKET_DOCS "/ENVIRONMENT.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(environment_table()), std::string::npos)
      << "docs/ENVIRONMENT.md must contain:\n"
      << environment_table();
}

}  // namespace
}  // namespace hocket::host
