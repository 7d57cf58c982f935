// Package s3 keeps backups in a bucket of Amazon S3, or of a server that speaks its protocol
// (port.BackupPlace).
//
// A process that writes leaves an object below locks/ and looks who else did; two that come at once may
// both give way, and never both go on. It renews its object every minute. One that was not renewed for ten
// is of a process that died, and is removed by the next: times are the server's, so that clocks need not
// agree.
package s3
