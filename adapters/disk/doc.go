// Package disk is how files are written that have to outlive a power cut. What a program
// has written is on the disk once the file is synced, and a name is there, renamed or gone
// once its folder is: until then a power cut may leave either state, or part of a write.
//
// Adapters that keep such files write them through FS, so that a test can take its place
// and leave what any power cut would: see disktest.
//
// What systems do each in their own way is here too, and nowhere else: who may reach a file,
// how much room a disk has, and on Windows, where a file that some program holds open can't
// be replaced or removed, waiting until it lets go.
package disk
