// Package browser opens the reference page of the built program in a real browser. The tests need
// Chromium (MNEME_CHROMIUM, or chromium-headless-shell or chromium on the PATH), node, and what
// install.sh brings to .cache/browser. Without them they are skipped, or fail when
// MNEME_TEST_REQUIRE is 1.
package browser
