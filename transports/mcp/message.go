package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mnemehq/mneme/core/fault"
)

// maxBatch bounds the messages of a batch, which revision 2025-03-26 has.
const maxBatch = 100

// message is what an error's answer needs to know of what came in.
type message struct {
	rawID        json.RawMessage
	method       string
	batch        bool
	notification bool
}

// id is the message's id as an answer repeats it; null when it has none.
func (m message) id() json.RawMessage {
	if len(m.rawID) > 0 && (m.rawID[0] == '"' || m.rawID[0] == '-' || '0' <= m.rawID[0] && m.rawID[0] <= '9') {
		return m.rawID
	}
	return json.RawMessage("null")
}

// protocolError is a fault with a code of JSON-RPC.
type protocolError struct {
	fault *fault.Error
	code  int
}

func (e *protocolError) Error() string { return e.fault.Error() }
func (e *protocolError) Unwrap() error { return e.fault }

// parse checks that a body is one message or a batch of messages.
func parse(body []byte) (message, error) {
	var m message
	if !json.Valid(body) {
		return m, &protocolError{fault.New(fault.InvalidJSON, "the body is not valid JSON"), jsonrpc.CodeParseError}
	}
	invalid := func(format string, args ...any) (message, error) {
		return m, &protocolError{fault.New(fault.InvalidRequest, format, args...), jsonrpc.CodeInvalidRequest}
	}
	switch body = bytes.TrimSpace(body); body[0] {
	case '{':
		var envelope struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			return invalid("the body is not a message of JSON-RPC 2.0")
		}
		m.rawID = envelope.ID
		if envelope.Method != nil {
			m.method, m.notification = *envelope.Method, len(envelope.ID) == 0
		}
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(body, &all); err != nil || len(all) == 0 || len(all) > maxBatch {
			return invalid("a batch must hold 1-%d messages", maxBatch)
		}
		m.batch = true
	default:
		return invalid("the body is not a message of JSON-RPC 2.0")
	}
	return m, nil
}
