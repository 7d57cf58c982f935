// Package clientconfig enters this program among the MCP servers of an assistant or an editor,
// in that client's own configuration, and takes it out again. Of a file it changes the entry
// alone: comments, order and spacing of everything else stay as they are, byte by byte.
package clientconfig
