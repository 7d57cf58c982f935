// Package key is the service of API keys, of the organizations that own them and
// of the integrations that end users' memories belong to: issue, rotate, change,
// revoke, list and verify keys, make and change organizations and integrations.
//
// A secret is shown once, when its key is issued; the store holds its SHA-256,
// which is enough for a secret of 256 random bits (a slow password hash defends
// guessable secrets).
package key
