// Package redis keeps the token buckets that replicas share in a server that
// speaks the Redis protocol, such as Redis, Valkey, KeyDB or Dragonfly: one hash
// a bucket, charged by a script, so that each charge is one round trip and
// atomic. Buckets expire once they are full.
package redis
