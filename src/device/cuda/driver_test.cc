// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/driver.h"

#include <gtest/gtest.h>

#include "device/cuda/fake_driver_suite.h"
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace hocket::cuda {
namespace {

TEST(Driver, NamesTheFunctionThatIsMissing) {
  FakeDriver fake;
  fake.remove("cuMemAlloc_v2");
  fake.remove("cuGraphLaunch");
  Result<Driver> driver = fake.open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code(), Code::unsupported);
  EXPECT_EQ(driver.error().message(), "the driver has no function cuMemAlloc_v2");
}

TEST(Driver, NamesTheVersionThatIsTooOld) {
  FakeDriver fake;
  fake.set("cuDriverGetVersion", [](int* version) {
    *version = 11040;
    return Status::success;
  });
  fake.remove("cuGraphLaunch");
  Result<Driver> driver = fake.open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code(), Code::unsupported);
  EXPECT_EQ(driver.error().message(),
            "the driver is for CUDA 11.4, Hocket needs one for 12.0 at least");
}

TEST(Driver, SaysWhatFailedAndWhere) {
  FakeDriver fake;
  fake.set("cuMemAlloc_v2", [](Address*, std::size_t) { return Status::out_of_memory; });
  const Driver driver = fake.open().value();
  Address address = 0;
  Result<void> result = driver.call(driver->memory.allocate, &address, 8);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::out_of_memory);
  EXPECT_EQ(result.error().message(),
            "cuMemAlloc_v2 on device 3 (Fake H200): out of memory, CUDA_ERROR_OUT_OF_MEMORY (2)");
}

TEST(Driver, SaysWhatItKnowsOfAnUnknownError) {
  FakeDriver fake;
  fake.set("cuCtxGetDevice", [](Device*) { return Status{201}; });
  fake.set("cuStreamSynchronize", [](Stream) { return Status{719}; });
  const Driver driver = fake.open().value();
  Result<void> result = driver.call(driver->stream.synchronize, nullptr);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::system);
  EXPECT_EQ(result.error().message(),
            "cuStreamSynchronize on no current device: no description, an unknown error (719)");
}

TEST(Driver, TellsWhatThisMachineLacksFromWhatWentWrong) {
  FakeDriver fake;
  fake.set("cuInit", [](unsigned flags) { return static_cast<Status>(flags); });
  const Driver driver = fake.open().value();
  const auto code = [&](Status status) {
    return driver.call(driver->system.init, static_cast<unsigned>(status)).error().code();
  };
  EXPECT_EQ(code(Status::no_device), Code::unsupported);
  EXPECT_EQ(code(Status::no_binary_for_gpu), Code::unsupported);
  EXPECT_EQ(code(Status::system_driver_mismatch), Code::unsupported);
  EXPECT_EQ(code(Status::invalid_value), Code::system);
  EXPECT_TRUE(driver.call(driver->system.init, 0));
}

TEST(Driver, OpensOrSaysWhyNot) {
  Result<Driver> driver = Driver::open();
  if (driver) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(driver.error().code(), Code::unsupported);
  EXPECT_TRUE(
      driver.error().message().starts_with("no driver: libcuda.so.1 could not be opened: ") ||
      driver.error().message().starts_with("cuInit on "))
      << driver.error().message();
}

#if __has_include(<cuda.h>)
TEST(Abi, IsCudas) {
  static_assert(std::is_same_v<Device, CUdevice> && std::is_same_v<Address, CUdeviceptr>);
  static_assert(std::is_same_v<Context, CUcontext> && std::is_same_v<ModuleHandle, CUmodule>);
  static_assert(std::is_same_v<Function, CUfunction> && std::is_same_v<Stream, CUstream>);
  static_assert(std::is_same_v<Event, CUevent> && std::is_same_v<Graph, CUgraph>);
  static_assert(std::is_same_v<GraphExec, CUgraphExec>);
  const auto same = [](auto ours, auto theirs) {
    return static_cast<int>(ours) == static_cast<int>(theirs);
  };
  EXPECT_TRUE(same(Status::success, CUDA_SUCCESS));
  EXPECT_TRUE(same(Status::invalid_value, CUDA_ERROR_INVALID_VALUE));
  EXPECT_TRUE(same(Status::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_TRUE(same(Status::stub_library, CUDA_ERROR_STUB_LIBRARY));
  EXPECT_TRUE(same(Status::no_device, CUDA_ERROR_NO_DEVICE));
  EXPECT_TRUE(same(Status::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
  EXPECT_TRUE(same(Status::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  EXPECT_TRUE(same(Status::not_ready, CUDA_ERROR_NOT_READY));
  EXPECT_TRUE(same(Status::not_supported, CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_TRUE(same(Status::system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY));
  EXPECT_TRUE(same(Status::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
  EXPECT_TRUE(
      same(Status::compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
  EXPECT_TRUE(same(Attribute::multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_TRUE(same(Attribute::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_TRUE(same(Attribute::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_TRUE(same(kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
  EXPECT_TRUE(same(kWaitEqual, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_TRUE(same(kHostPortable, CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_TRUE(same(kHostMapped, CU_MEMHOSTALLOC_DEVICEMAP));
  EXPECT_TRUE(same(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_TRUE(same(Status::peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
  EXPECT_TRUE(same(kEventDisableTiming, CU_EVENT_DISABLE_TIMING));
  EXPECT_TRUE(same(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  EXPECT_TRUE(same(CaptureStatus::none, CU_STREAM_CAPTURE_STATUS_NONE));
  EXPECT_TRUE(same(CaptureStatus::active, CU_STREAM_CAPTURE_STATUS_ACTIVE));
  EXPECT_TRUE(same(CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED));
  static_assert(sizeof(IpcHandle) == sizeof(CUipcMemHandle));
}
#endif

}  // namespace
}  // namespace hocket::cuda
