// Package webhook sends deliveries over HTTP as Standard Webhooks 1.0 says: signed with the
// standard's own library, or with ed25519 where the webhook wants that, through the guarded client,
// to no address that is not public unless the operator lists it, following no redirect.
package webhook
