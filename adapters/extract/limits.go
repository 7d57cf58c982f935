package extract

import "time"

// Limits bound what reading one file may cost.
type Limits struct {
	File     int64         // bytes of the file
	Entries  int           // of an archive
	Expanded int64         // bytes of all entries of an archive together
	Ratio    int64         // of expanded to packed bytes of an archive
	Depth    int           // of elements inside each other
	Text     int           // bytes of text that come out
	Time     time.Duration // of reading
}

// DefaultLimits are the limits that a server has unless it is configured otherwise.
func DefaultLimits() Limits {
	return Limits{
		File:     64 << 20,
		Entries:  10_000,
		Expanded: 256 << 20,
		Ratio:    100,
		Depth:    256,
		Text:     32 << 20,
		Time:     time.Minute,
	}
}
