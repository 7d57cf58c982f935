// Package handover sends the calls of several processes over one data folder to the one that
// holds it, and finds the next holder when that one ends. A call that an ended holder has not
// answered is repeated, so only calls that may be repeated go through it: those that read,
// and writes and deletions that name what they write and delete.
package handover
