// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/module.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cuda/fake_driver_suite.h"

namespace hocket::cuda {
namespace {

/// What the fake was asked: functions without captures have nowhere else to write it.
struct Asked {
  std::vector<std::string> names;
  int unloaded = 0;
  std::vector<unsigned> launch;
  const void* function = nullptr;
  world::Action action;
};
Asked* asked = nullptr;

class ModuleTest : public ::testing::Test {
 protected:
  ModuleTest() {
    asked = &asked_;
    fake_.set("cuModuleLoadData", [](ModuleHandle* handle, const void* image) {
      *handle = static_cast<ModuleHandle>(const_cast<void*>(image));
      return Status::success;
    });
    fake_.set("cuModuleUnload", [](ModuleHandle) {
      ++asked->unloaded;
      return Status::success;
    });
    fake_.set("cuModuleGetFunction", [](Function* function, ModuleHandle, const char* name) {
      asked->names.emplace_back(name);
      *function = reinterpret_cast<Function>(asked->names.size());
      return Status::success;
    });
    fake_.set("cuLaunchKernel", [](Function function, unsigned x, unsigned y, unsigned z,
                                   unsigned threads, unsigned threads_y, unsigned threads_z,
                                   unsigned shared, Stream, void** parameters, void**) {
      asked->function = function;
      asked->launch = {x, y, z, threads, threads_y, threads_z, shared};
      asked->action = *static_cast<const world::Action*>(parameters[1]);
      return Status::success;
    });
  }
  ~ModuleTest() override { asked = nullptr; }

  FakeDriver fake_;
  Asked asked_;
  const int image_ = 0;
};

TEST_F(ModuleTest, SaysThatThereAreNoKernels) {
  const Driver driver = fake_.open().value();
  const auto module = Module::load(driver, {});
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code(), Code::unsupported);
  EXPECT_EQ(module.error().message(),
            "this build has no kernels: nvcc was not found when it was configured");
}

TEST_F(ModuleTest, LoadsEveryKernelAtOnce) {
  const Driver driver = fake_.open().value();
  const Image images[] = {{Kernels::packet, &image_}};
  {
    const auto module = Module::load(driver, images);
    ASSERT_TRUE(module);
    ASSERT_EQ(asked_.names.size(), 1 + kDataTypes * kReduceOps);
    EXPECT_EQ(asked_.names.front(), "hocket_packet_store");
    EXPECT_EQ(asked_.names[1], "hocket_packet_float32_sum");
    EXPECT_EQ(asked_.names[2 * kReduceOps + 4], "hocket_packet_bfloat16_max");
    EXPECT_EQ(asked_.names.back(), "hocket_packet_uint8_avg");
  }
  EXPECT_EQ(asked_.unloaded, 1);
}

TEST_F(ModuleTest, LaunchesTheKernelOfAnAction) {
  const Driver driver = fake_.open().value();
  const Image images[] = {{Kernels::packet, &image_}};
  const auto module = Module::load(driver, images).value();
  const kernels::Domain domain;
  world::Action action = {.blocks = 3, .threads = 256, .signature = 5};
  action.swap.combine = world::Combine::fold_by_round;
  action.swap.type = DataType::int32;
  action.swap.op = ReduceOp::min;
  ASSERT_TRUE(module->launch(nullptr, domain, action));
  const std::size_t at = reinterpret_cast<std::uintptr_t>(asked_.function) - 1;
  EXPECT_EQ(asked_.names[at], "hocket_packet_int32_min");
  EXPECT_EQ(asked_.launch, (std::vector<unsigned>{3, 1, 1, 256, 1, 1, 0}));
  EXPECT_EQ(asked_.action.signature, 5u);
  action.swap.combine = world::Combine::store;
  ASSERT_TRUE(module->launch(nullptr, domain, action));
  EXPECT_EQ(asked_.names[reinterpret_cast<std::uintptr_t>(asked_.function) - 1],
            "hocket_packet_store");
}

/// `count` messages of `bytes` to rank 1.
world::Transfers transfers_of(std::uint16_t count, std::uint64_t bytes) {
  world::Transfers transfers;
  transfers.count = 1;
  transfers.directions[0] = {.peer = 1, .sends = true, .count = count};
  for (std::uint16_t i = 0; i < count; ++i) transfers.all[i] = {.bytes = bytes, .signature = i};
  return transfers;
}

TEST_F(ModuleTest, LaunchesTransfersWithTheStripesThatTheyAreWorth) {
  fake_.set(
      "cuLaunchKernel", [](Function function, unsigned x, unsigned, unsigned, unsigned threads,
                           unsigned, unsigned, unsigned, Stream, void** parameters, void**) {
        const auto& few = *static_cast<const world::FewTransfers*>(parameters[1]);
        asked->function = function;
        asked->launch = {x, threads, few.all[3].signature, *static_cast<unsigned*>(parameters[2])};
        return Status::success;
      });
  const Driver driver = fake_.open().value();
  const Image images[] = {{Kernels::transfers, &image_}};
  const auto module = Module::load(driver, images).value();
  EXPECT_EQ(asked_.names, (std::vector<std::string>{"hocket_few_transfers", "hocket_transfers"}));
  kernels::Domain domain;
  domain.capacity = {.world = 2, .staged = 16 << 20, .letters = 8192, .stripes = 32};
  ASSERT_TRUE(module->launch(nullptr, domain, transfers_of(4, 8)));
  EXPECT_EQ(asked_.function, reinterpret_cast<Function>(1));
  EXPECT_EQ(asked_.launch, (std::vector<unsigned>{1, 256, 3, 1}));
  ASSERT_TRUE(module->launch(nullptr, domain, transfers_of(5, 10'000)));
  EXPECT_EQ(asked_.function, reinterpret_cast<Function>(2));
  EXPECT_EQ(asked_.launch, (std::vector<unsigned>{5, 256, 3, 5}));
  world::Transfers both = transfers_of(2, 1 << 30);
  both.directions[0].count = 1;
  both.directions[1] = {.peer = 1, .sends = false, .first = 1, .count = 1};
  both.count = 2;
  ASSERT_TRUE(module->launch(nullptr, domain, both));
  EXPECT_EQ(asked_.launch[0], 64u);
  domain.capacity.stripes = 1;
  ASSERT_TRUE(module->launch(nullptr, domain, both));
  EXPECT_EQ(asked_.launch[0], 2u);
  EXPECT_EQ(asked_.launch[1], 128u);
}

TEST_F(ModuleTest, LaunchesTheKernelThatFolds) {
  const Driver driver = fake_.open().value();
  const Image images[] = {{Kernels::transfers, &image_}, {Kernels::folding, &image_}};
  const auto module = Module::load(driver, images).value();
  ASSERT_EQ(asked_.names.size(), 2 + kDataTypes * kReduceOps);
  kernels::Domain domain;
  domain.capacity = {.world = 2, .staged = 16 << 20, .letters = 8192, .stripes = 32};
  world::Transfers transfers = transfers_of(2, 8);
  transfers.folds = true;
  transfers.type = DataType::bfloat16;
  transfers.op = ReduceOp::max;
  ASSERT_TRUE(module->launch(nullptr, domain, transfers));
  EXPECT_EQ(asked_.names[reinterpret_cast<std::uintptr_t>(asked_.function) - 1],
            "hocket_folding_bfloat16_max");
}

TEST_F(ModuleTest, UnloadsWhatItLoadedBeforeAKernelIsMissing) {
  fake_.set("cuModuleGetFunction",
            [](Function*, ModuleHandle, const char*) { return Status{500}; });
  const Driver driver = fake_.open().value();
  const Image images[] = {{Kernels::packet, &image_}};
  const auto module = Module::load(driver, images);
  ASSERT_FALSE(module);
  EXPECT_TRUE(module.error().message().starts_with("cuModuleGetFunction on device 3 (Fake H200)"));
  EXPECT_EQ(asked_.unloaded, 1);
}

}  // namespace
}  // namespace hocket::cuda
