package backup

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mnemehq/mneme/core/port"
)

// The format of a place.
const (
	formatName    = "mneme.backup"
	formatVersion = 1

	repositoryName = "repository.json"
	backupsPrefix  = "backups/"
	packsPrefix    = "packs/"
)

// Sizes of chunks and packs, in bytes.
const (
	chunkTarget = 32 << 10
	chunkLeast  = chunkTarget / 4
	chunkMost   = chunkTarget * 8
	packTarget  = 8 << 20
	largest     = 1 << 30 // of what one chunk may become: a row is never cut
)

// sum is SHA-256 of something.
type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText is for JSON.
func (s sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is for JSON.
func (s *sum) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(s) {
		return errors.New("not a hash")
	}
	copy(s[:], b)
	return nil
}

func packName(id sum) string { return packsPrefix + id.String()[:2] + "/" + id.String() }

// chunk says where a chunk is.
type chunk struct {
	Hash   sum   `json:"hash"` // of what it holds
	Pack   sum   `json:"pack"`
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"` // as it is stored
	Bytes  int64 `json:"bytes"`
}

// Table is a table in a backup.
type Table struct {
	port.DumpTable
	Rows   int64 `json:"rows"`
	Bytes  int64 `json:"bytes"`
	Chunks int   `json:"chunks"`
}

// Manifest is a backup, all of it but the rows.
type Manifest struct {
	ID            string    `json:"id"`
	Program       string    `json:"program"` // version
	Store         string    `json:"store"`   // component
	Schema        int       `json:"schema"`
	Organizations []string  `json:"organizations"` // their ids; an installation has one in common with itself later
	Began         time.Time `json:"began"`         // when its snapshot was taken
	Ended         time.Time `json:"ended"`
	Tables        []Table   `json:"tables"`
	Index         []chunk   `json:"index"`
	Bytes         int64     `json:"bytes"` // of all rows
	Added         int64     `json:"added"` // bytes stored for it that no backup before had
}

// Rows counts the rows of a table, in all databases.
func (m Manifest) Rows(table string) (n int64) {
	for _, t := range m.Tables {
		if tableOf(t.Name) == table {
			n += t.Rows
		}
	}
	return n
}

// Databases names those that the backup has rows of besides the home's; none: it is of one database.
func (m Manifest) Databases() (names []string) {
	for _, t := range m.Tables {
		if at := strings.LastIndexByte(t.Name, '/'); at > 0 && !slices.Contains(names, t.Name[:at]) {
			names = append(names, t.Name[:at])
		}
	}
	return names
}

// tableOf is the table's name without that of its database, which comes before a slash where there are several.
func tableOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// codec turns contents into what is stored and back. It is not for concurrent use.
type codec struct {
	aead       cipher.AEAD // nil: not encrypted
	compressor *zstd.Encoder
	expander   *zstd.Decoder
}

func newCodec(aead cipher.AEAD) (*codec, error) {
	c := &codec{aead: aead}
	var err error
	c.compressor, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	if c.expander, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest)); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return c, nil
}

// What a sealed piece is, so that none can stand in another's place.
const (
	pieceChunk  = "mneme.backup chunk"
	pieceTail   = "mneme.backup pack"
	pieceBackup = "mneme.backup backup "
)

func (c *codec) encode(dst []byte, piece string, raw []byte) []byte {
	if c.aead == nil {
		return c.compressor.EncodeAll(raw, dst)
	}
	nonce := make([]byte, c.aead.NonceSize())
	rand.Read(nonce) // never fails
	return c.aead.Seal(append(dst, nonce...), nonce, c.compressor.EncodeAll(raw, nil), []byte(piece))
}

var errDecode = errors.New("it is not what was stored")

func (c *codec) decode(piece string, stored []byte) ([]byte, error) {
	if c.aead != nil {
		if len(stored) < c.aead.NonceSize() {
			return nil, errDecode
		}
		nonce, sealed := stored[:c.aead.NonceSize()], stored[c.aead.NonceSize():]
		opened, err := c.aead.Open(nil, nonce, sealed, []byte(piece))
		if err != nil {
			return nil, errDecode
		}
		stored = opened
	}
	raw, err := c.expander.DecodeAll(stored, nil)
	if err != nil {
		return nil, errDecode
	}
	return raw, nil
}

// chunk reads a chunk out of what is stored of it.
func (c *codec) chunk(k chunk, stored []byte) ([]byte, error) {
	raw, err := c.decode(pieceChunk, stored)
	if err == nil && (int64(len(raw)) != k.Bytes || sha256.Sum256(raw) != k.Hash) {
		err = errDecode
	}
	return raw, err
}

func (c *codec) encodeManifest(m Manifest) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return c.encode(nil, pieceBackup+m.ID, body), nil
}

func (c *codec) decodeManifest(id string, stored []byte) (m Manifest, err error) {
	body, err := c.decode(pieceBackup+id, stored)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err == nil && m.ID != id {
		err = errDecode
	}
	return m, err
}

// An entry of an index: hash and pack, then offset, size and bytes as varints.
func appendEntry(dst []byte, k chunk) []byte {
	dst = append(append(dst, k.Hash[:]...), k.Pack[:]...)
	for _, n := range []int64{k.Offset, k.Size, k.Bytes} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

func entry(row []byte) (k chunk, err error) {
	if len(row) < 2*sha256.Size {
		return k, errDecode
	}
	copy(k.Hash[:], row)
	copy(k.Pack[:], row[sha256.Size:])
	row = row[2*sha256.Size:]
	for _, n := range []*int64{&k.Offset, &k.Size, &k.Bytes} {
		v, read := binary.Uvarint(row)
		if read <= 0 || v > largest {
			return k, errDecode
		}
		*n, row = int64(v), row[read:]
	}
	if len(row) > 0 {
		return k, errDecode
	}
	return k, nil
}

// eachRow visits the rows of a chunk: each after its length.
func eachRow(raw []byte, visit func([]byte) error) error {
	for len(raw) > 0 {
		n, read := binary.Uvarint(raw)
		if read <= 0 || n > uint64(len(raw)-read) {
			return errDecode
		}
		if err := visit(raw[read : read+int(n)]); err != nil {
			return err
		}
		raw = raw[read+int(n):]
	}
	return nil
}

// A pack ends with the sealed list of its chunks, the list's length in four bytes, and a mark.
var packMark = []byte("MNEMEPK1")

func (c *codec) appendTail(pack []byte, held []chunk) []byte {
	var list []byte
	for _, k := range held {
		row := appendEntry(nil, chunk{Hash: k.Hash, Offset: k.Offset, Size: k.Size, Bytes: k.Bytes})
		list = append(binary.AppendUvarint(list, uint64(len(row))), row...)
	}
	before := len(pack)
	pack = c.encode(pack, pieceTail, list)
	pack = binary.BigEndian.AppendUint32(pack, uint32(len(pack)-before))
	return append(pack, packMark...)
}

// tail lists the chunks of a pack.
func (c *codec) tail(id sum, pack []byte) (held []chunk, err error) {
	body, marked := bytes.CutSuffix(pack, packMark)
	if sha256.Sum256(pack) != id || !marked || len(body) < 4 {
		return nil, errDecode
	}
	body, size := body[:len(body)-4], int64(binary.BigEndian.Uint32(body[len(body)-4:]))
	if size > int64(len(body)) {
		return nil, errDecode
	}
	list, err := c.decode(pieceTail, body[int64(len(body))-size:])
	if err != nil {
		return nil, err
	}
	err = eachRow(list, func(row []byte) error {
		k, err := entry(row)
		k.Pack = id
		held = append(held, k)
		return err
	})
	return held, err
}
