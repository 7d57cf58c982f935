// Package disktest cuts the power. A Recorder takes part in every change of a folder's
// files, and tells afterwards what could be on the disk had the power gone at any
// moment: what was not synced is lost, or is there, or part of it is, in any order.
//
// For tests only.
package disktest
