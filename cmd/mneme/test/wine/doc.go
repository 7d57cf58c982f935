// Package wine runs the program for Windows under Wine: the stories that are told of the
// program of this system (tours, MCP clients, kills), and what Windows alone has, such as
// names that mean devices and files that nobody else may open.
//
// It needs wine64 and, for a DLL that Go's programs call and Wine 8 lacks, clang-14 and
// lld-link-14 (lld-14). Without them it is skipped, and fails instead under
// MNEME_TEST_REQUIRE=1. docs/platforms.md says what Wine can't show.
package wine
