package embedded

// Settle waits until no background work of a partition is under way or due.
var Settle = settle
