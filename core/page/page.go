package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/mnemehq/mneme/core/fault"
)

// Signer makes and opens cursors. Servers that share a store share its key.
type Signer struct{ key []byte }

// NewSigner takes a secret of at least 16 bytes.
func NewSigner(key []byte) *Signer { return &Signer{key: key} }

const macSize = 16

// bind are the route, tenant and parameters of the list; they are signed with
// the position but not carried in the cursor.
func (s *Signer) mac(body []byte, bind []string) []byte {
	h := hmac.New(sha256.New, s.key)
	for _, b := range bind {
		sum := sha256.Sum256([]byte(b))
		h.Write(sum[:])
	}
	h.Write(body)
	return h.Sum(nil)[:macSize]
}

// Seal makes the cursor that continues after position.
func (s *Signer) Seal(position any, bind ...string) string {
	body, err := json.Marshal(position)
	if err != nil {
		panic("page: position cannot be encoded: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(append(s.mac(body, bind), body...))
}

// Open reads a cursor into position. An empty cursor leaves it as it is. A
// cursor that this list did not make answers InvalidCursor.
func (s *Signer) Open(cursor string, position any, bind ...string) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	// A decoder takes several spellings of the same bytes; only ours is a cursor.
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != cursor || len(raw) < macSize ||
		!hmac.Equal(raw[:macSize], s.mac(raw[macSize:], bind)) ||
		json.Unmarshal(raw[macSize:], position) != nil {
		return fault.Field(fault.InvalidCursor, "cursor", "is not a cursor of this list with these parameters")
	}
	return nil
}

// DefaultLimit is the size of a page when the caller asks for none.
const DefaultLimit = 100

// Limit is the page size asked for, or the default.
func Limit(asked *int) int {
	if asked == nil {
		return DefaultLimit
	}
	return *asked
}
