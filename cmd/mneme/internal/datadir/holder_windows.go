package datadir

// holderFile says who has the folder. Nobody can read or write a file here that is locked.
const holderFile = "holder.json"
