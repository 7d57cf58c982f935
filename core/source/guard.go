package source

// fewDocuments is how many deletions are never suspicious, and a share of one in
// suspiciousShare of a source's documents is.
const (
	fewDocuments    = 10
	suspiciousShare = 10
)

// absence is what a listing leaves to be deleted.
type absence struct {
	documents int64  // of the source
	gone      int64  // of them, whose items are gone
	listed    uint64 // items that the listing named
	snapshot  bool   // it was of everything
	allowed   *int64 // most deletions that were asked for; nil: the rules decide
}

// withheld decides whether deletions are withheld (docs/contract.md#source-deletions): a source
// that shows far less than before is more often broken than emptied.
func (a absence) withheld() bool {
	switch {
	case a.gone == 0:
		return false
	case a.allowed != nil:
		return a.gone > *a.allowed
	case a.snapshot && a.listed == 0:
		return true
	}
	return a.gone > fewDocuments && a.gone*suspiciousShare > a.documents
}
