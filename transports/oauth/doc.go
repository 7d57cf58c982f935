// Package oauth is the OAuth 2.1 front over HTTP, for MCP clients that cannot send
// an API key: metadata of the resource (RFC 9728) and of the authorization server
// (RFC 8414), the authorization endpoint with its consent page, the token,
// revocation (RFC 7009) and registration (RFC 7591) endpoints, and the reader of
// client metadata documents. What a grant is and when it ends is core/oauth's.
//
// The consent page is plain HTML with one embedded style sheet: no script, no
// outside assets. Its form is signed with a secret that all replicas share, and
// bound to the browser by a cookie, so that no process keeps a session.
package oauth
