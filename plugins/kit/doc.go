// Package kit is what the kits for vendors share, modelkit and sourcekit: findings, how they
// are collected and rendered, and what a run of many calls says about memory.
package kit
