// Package arm64 runs the program for ARM64 under emulation (qemu-user), which is some
// hundred times slower than a processor: one short story with the built-in models. The
// vector kernels have their own tests, which CI runs on emulated processors with and
// without dot products.
//
// Without qemu-aarch64 it is skipped, and fails instead under MNEME_TEST_REQUIRE=1.
package arm64
