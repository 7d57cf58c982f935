// Package datadir owns what lies in the data folder beside the store's and the
// index's files: the lock that gives the folder to one process, the record by
// which other commands find the running server, and the local key.
//
//	lock         held while a process has the folder; says who (on Windows, holder.json does)
//	server.json  URL and process of the running server
//	told         folder in which commands tell the server that they stored something beside it
//	replica      name of the folder among the replicas over one store
//	local.key    API key of this machine's user, mode 0600
//	seal.key     sealing keys of other systems' secrets, mode 0600
package datadir
