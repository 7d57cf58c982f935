// Package mail reads e-mails (EML) and mailboxes (MBOX): what their headers say, the text
// of their bodies, and that of attachments which another Extractor reads.
package mail
