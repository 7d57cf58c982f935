// Package sourcev1 is the connector protocol: the code that generate.sh makes of
// mneme_source.proto, the constants of the handshake and the limits.
// PROTOCOL-SOURCE.md says what a connector in any language does.
package sourcev1
