// Package backup keeps backups of a store at a place (port.BackupPlace): incremental, encrypted if
// asked, made while the store is in use, verified and restored.
//
// # What a place holds
//
//	repository.json  the format's version, the place's id, and of an encrypted one its data
//	                 key, sealed by age for a passphrase or for recipients
//	packs/HH/HASH    chunks one after the other, 8 MiB together; HASH is SHA-256 of the pack
//	backups/ID       one backup, written last: tables, counts, and where its index is
//
// A table's rows (core/packing) are cut into chunks of about 32 KiB, where the contents say
// so: after a row with a hash below a bound that grows with the row's length. So what is inserted or
// removed changes the chunk around it and no other. A chunk is known by SHA-256 of its rows and stored
// once, whatever backups refer to it. It is compressed (Zstandard) and, in an encrypted place,
// sealed with XChaCha20-Poly1305 under the data key. Names and sizes tell how much there is and when,
// nothing else.
//
// Of a store over several databases the tables of the home have their names, and those of each other database
// DATABASE/TABLE, behind them: the format is the same, and a program that knows no such tables refuses them.
//
// A backup's index lists its chunks with their packs. It is cut into chunks itself and stored in
// packs, so that an unchanged part of it costs nothing. A pack ends with a list of its own chunks:
// a backup that was interrupted is gone on with by reading those of packs that no backup refers to.
//
// A pack is removed only when no backup refers to it. One of which the newest backup uses less than
// a third is not added to: what is still used of it is stored once more by the next backup.
package backup
