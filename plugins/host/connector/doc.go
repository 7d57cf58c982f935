// Package connector implements port.Connector over programs of vendors, which run as
// processes and speak the connector protocol (plugins/proto/source). How a program is
// started and kept running is supervise's. Nothing that a program says is trusted: what
// breaks a rule of the protocol ends the call, what a connection holds as a secret is
// taken out of messages and of the log, and whatever a program does, a call ends with its
// context and takes bounded memory.
package connector
