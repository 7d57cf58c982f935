// Package git follows a branch, a tag or a commit of a git repository over HTTPS or SSH.
//
// A listing begins with the names that the repository shows, and ends there when the commit
// is the one that was listed last. Else the commit is fetched without its history, and a
// file counts as changed when its blob does. What was fetched lies in a file that nobody
// else can open until it has not been asked for some minutes. Submodules and files in
// Git LFS are named and left out; symbolic links are left out.
//
// Packs come from strangers: how many objects they hold and how far each expands is
// bounded before a library builds an index of them.
package git
