// Package harness is what the tests of the whole program share. It builds the program
// and runs it, commands to their end and servers until the end of the test, and asks
// servers over HTTP.
//
// A Site is a data folder that commands and servers work on, a Server one that runs,
// and a Client asks one with a key and gets an Answer.
//
// For tests only.
package harness
