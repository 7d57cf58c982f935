// Package s3 follows the objects of a bucket of Amazon S3 or of a server that speaks its
// protocol.
//
// A listing asks for names, a thousand at a time; an object is read when its hash, size or
// time differ. Without an access key the bucket is read as the public may: the server's
// own role or environment is never used, which would lend it to every organization. What
// lies in an archive is named and left out, and so are the marks that some tools leave as
// folders.
package s3
