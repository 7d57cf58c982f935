// Package assembled opens the product in the test's own process, put together and served as
// the program does it. It is apart from harness so that tests that run the program need
// not link all of it.
//
// For tests only.
package assembled
