// Package datasetfile keeps data sets (core/dataset) in files: it writes them so that
// an export that was stopped can go on, compressed where the name says so, reads
// them back, and keeps the journal of an import (core/dataset/installation).
package datasetfile
