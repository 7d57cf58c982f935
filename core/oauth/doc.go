// Package oauth is the service behind the optional OAuth 2.1 front: it grants
// the rights of an API key to MCP clients that cannot send one. It knows clients (by
// metadata document or registered), makes authorization codes for keys that
// their holders present, exchanges codes and refresh tokens for access tokens,
// and resolves an access token to its key.
//
// Everything is kept in the store, so that any replica can take any step; codes, tokens
// and keys are kept as SHA-256 only. A token's rights are those of its key at the moment
// of each use, so it ends with the key.
//
// After draft-ietf-oauth-v2-1 (authorization code with PKCE S256, public
// clients), RFC 7009 (revocation), RFC 7591 (registration), RFC 8707 (resource),
// RFC 9207 (iss), RFC 9700 (rotation with reuse detection) and
// draft-ietf-oauth-client-id-metadata-document.
package oauth
