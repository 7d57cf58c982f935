package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/mnemehq/mneme/core/port"
)

// Identity is what makes two remote models give the same vectors. Its digest
// stands in for that of module and weights.
type Identity struct {
	Task       port.Task `json:"task"`
	Model      string    `json:"model"`    // the server's name for it
	Revision   string    `json:"revision"` // declared; the operator raises it when the model behind the name changes
	Dimensions int       `json:"dimensions"`
	Query      string    `json:"query"`   // what tells a query: prefix, prompt or input type
	Passage    string    `json:"passage"` // what tells a passage
}

// Digest is "sha256:" and the hash of the identity's canonical JSON.
func (i Identity) Digest() string {
	body, err := json.Marshal(struct {
		Format int `json:"format"`
		Identity
	}{1, i})
	if err != nil { // strings and numbers always encode
		panic(fmt.Sprintf("remote: encode identity: %v", err))
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
