// Package webhooktest is a receiver of webhooks for tests: it verifies what comes with the standard's
// library and keeps it.
package webhooktest
