// Package oidc signs people in with an account of an OpenID Connect provider: the authorization
// code flow with PKCE, state and nonce, and an ID token that is verified against the provider's
// keys. The operator names the provider, which may be on a private network; what it answers is
// bounded in time and bytes, is redirected nowhere, and may name addresses over https alone.
package oidc
