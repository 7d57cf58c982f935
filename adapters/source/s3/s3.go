package s3

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are the operator's.
type Settings struct {
	Private   []string // networks that may be reached beside public addresses, as outbound.ParseNetwork reads them
	MaxItem   int64    // bytes of an object that is read; 0: 64 MiB
	UserAgent string   // of requests
}

const (
	stride   = 500              // items from one checkpoint to the next
	maxPage  = 32 << 20         // bytes of a list of a thousand names
	exchange = 10 * time.Minute // with a server, for an object of the largest size
	tries    = 3                // of a request that the server could not answer
)

// Connector follows buckets.
type Connector struct {
	http    *outbound.Client
	maxItem int64
}

// New makes a connector.
func New(s Settings) (*Connector, error) {
	c := &Connector{maxItem: cmp.Or(s.MaxItem, 64<<20)}
	var allowed []outbound.Network
	for _, text := range s.Private {
		n, err := outbound.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		allowed = append(allowed, n)
	}
	c.http = outbound.New(outbound.Options{
		Allowed: allowed, Timeout: exchange, MaxBytes: max(c.maxItem, maxPage), UserAgent: s.UserAgent,
		MaxRedirects: -1, // a signature is of one host
	})
	return c, nil
}

const configSchema = `{
  "type": "object", "required": ["bucket"], "additionalProperties": false,
  "properties": {
    "bucket": {"type": "string", "minLength": 3, "maxLength": 63, "description": "The bucket's name."},
    "prefix": {
      "type": "string", "maxLength": 1024, "default": "",
      "description": "Only objects whose names begin with it, such as docs/."
    },
    "endpoint": {
      "type": "string", "maxLength": 2000, "default": "https://s3.amazonaws.com",
      "description": "Where the protocol is spoken, such as https://storage.example.com:9000."
    },
    "region": {
      "type": "string", "maxLength": 100, "default": "",
      "description": "The bucket's region. Empty: it is asked for, which takes the right to (s3:GetBucketLocation)."
    },
    ` + source.FilterSchema + `
  }
}`

const secretsSchema = `{
  "type": "object", "additionalProperties": false,
  "properties": {
    "access_key_id": {"type": "string", "description": "With the next one, a key that may list the bucket and read its objects."},
    "secret_access_key": {"type": "string", "description": "The key's secret half."},
    "session_token": {"type": "string", "description": "That goes with a temporary key."}
  }
}`

type config struct {
	Bucket   string `json:"bucket"`
	Prefix   string `json:"prefix"`
	Endpoint string `json:"endpoint"`
	Region   string `json:"region"`
	source.FilterConfig
}

// Kind describes the connector.
func (c *Connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name:    "s3",
		Title:   "S3 bucket",
		Summary: "The objects of a bucket of Amazon S3 or of a server that speaks its protocol.",
		Config:  json.RawMessage(configSchema),
		Secrets: json.RawMessage(secretsSchema),
	}
}

// bucket is what a connection leads to.
type bucket struct {
	config
	client *minio.Core
	filter source.Filter
}

// open reads a connection. Problems are of fields.
func (c *Connector) open(conn port.Connection) (*bucket, []port.SourceFieldProblem, error) {
	b := &bucket{}
	if err := source.Decode(conn.Config, &b.config); err != nil {
		return nil, nil, err
	}
	var problems []port.SourceFieldProblem
	wrong := func(field, message string) {
		problems = append(problems, port.SourceFieldProblem{Field: field, Message: message})
	}
	b.filter, problems = source.NewFilter(b.FilterConfig)
	if s3utils.CheckValidBucketName(b.Bucket) != nil {
		wrong("config.bucket", "is no name of a bucket")
	}
	if s3utils.CheckValidObjectNamePrefix(b.Prefix) != nil {
		wrong("config.prefix", "is no beginning of an object's name")
	}
	id, secret, token := conn.Secrets["access_key_id"], conn.Secrets["secret_access_key"], conn.Secrets["session_token"]
	switch {
	case id == "" && (secret != "" || token != ""):
		wrong("secrets.access_key_id", "is missing beside the others")
	case id != "" && secret == "":
		wrong("secrets.secret_access_key", "is missing beside the key's id")
	}
	u, err := url.Parse(cmp.Or(b.Endpoint, "https://s3.amazonaws.com"))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "":
		wrong("config.endpoint", "has to be like https://host or https://host:port")
	case u.User != nil:
		wrong("config.endpoint", "may not hold a user or a password; the key is among the secrets")
	case u.Scheme == "http" && token != "":
		wrong("secrets.session_token", "is sent over https:// alone")
	}
	if len(problems) > 0 {
		return nil, problems, nil
	}
	options := &minio.Options{
		Secure: u.Scheme == "https", Region: b.Region, Transport: transport{c.http}, MaxRetries: tries,
		Creds: credentials.NewStatic(id, secret, token, credentials.SignatureDefault), // without a key: nobody's
	}
	if b.client, err = minio.NewCore(u.Host, options); err != nil {
		wrong("config.endpoint", "is none that the protocol is spoken at")
	}
	return b, problems, nil
}

// must is open where nothing of the configuration is expected to be wrong.
func (c *Connector) must(conn port.Connection) (*bucket, error) {
	b, problems, err := c.open(conn)
	if err == nil && len(problems) > 0 {
		err = port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
	}
	return b, err
}

// transport makes the library's requests over the guarded client.
type transport struct{ client *outbound.Client }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// Check lists one name.
func (c *Connector) Check(ctx context.Context, conn port.Connection) ([]port.SourceFieldProblem, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, problems, err := c.open(conn)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	for o := range b.client.ListObjectsIter(ctx, b.Bucket, minio.ListObjectsOptions{Prefix: b.Prefix, Recursive: true,
		MaxKeys: 1}) {
		if o.Err != nil {
			return nil, explain(ctx, o.Err)
		}
		break
	}
	return nil, ctx.Err()
}

// List lists the bucket in the order in which the server does.
func (c *Connector) List(ctx context.Context, conn port.Connection, state []byte, l port.SourceListing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := c.must(conn)
	if err != nil {
		return err
	}
	cursor := source.ParseCursor(state, conn.Config)
	owner := false
	options := minio.ListObjectsOptions{Prefix: b.Prefix, Recursive: true, StartAfter: string(cursor.After), FetchOwner: &owner}
	since, last := 0, string(cursor.After)
	sorted := true // a server that lists in another order can't go on after a name
	for o := range b.client.ListObjectsIter(ctx, b.Bucket, options) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case o.Err != nil:
			return explain(ctx, o.Err)
		}
		sorted = sorted && o.Key > last
		last = o.Key
		if strings.HasSuffix(o.Key, "/") || !b.filter.Tree(o.Key) {
			continue
		}
		item := port.SourceItem{
			Key: source.Key(o.Key), Version: version(o), Name: source.Name(o.Key), Size: max(o.Size, -1),
			Modified: o.LastModified}
		if err := l.Item(ctx, item); err != nil {
			return err
		}
		if since++; since < stride || !sorted {
			continue
		}
		since = 0
		cursor.After = []byte(o.Key)
		if err := l.Checkpoint(ctx, cursor.State()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // the library ends without a word
		return err
	}
	return l.Complete(ctx, true)
}

// version tells one content of an object from another. A list has more of the time than
// an object's own answer, so that it counts by seconds.
func version(o minio.ObjectInfo) string {
	v := fmt.Sprintf("%s-%d-%d", strings.Trim(o.ETag, `"`), o.Size, o.LastModified.Unix())
	if len(v) <= 128 {
		return v
	}
	sum := sha256.Sum256([]byte(v))
	return hex.EncodeToString(sum[:])
}

// Fetch reads an object.
func (c *Connector) Fetch(ctx context.Context, conn port.Connection, item port.SourceItem) (port.SourceContent, error) {
	var none port.SourceContent
	if err := ctx.Err(); err != nil {
		return none, err
	}
	b, err := c.must(conn)
	if err != nil {
		return none, err
	}
	name, err := source.Path(item.Key)
	if err != nil {
		return none, err
	}
	if !strings.HasPrefix(name, b.Prefix) || s3utils.CheckValidObjectName(name) != nil {
		return none, errGone
	}
	body, info, _, err := b.client.GetObject(ctx, b.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return none, explain(ctx, err)
	}
	defer body.Close()
	content, err := source.Read(ctx, body, info.Size, c.maxItem)
	var known *port.SourceError
	switch {
	case errors.As(err, &known):
		return none, err
	case err != nil:
		return none, explain(ctx, err)
	}
	file := port.File{Name: source.Name(name[strings.LastIndexByte(name, '/')+1:]), Content: content}
	if media, _, _ := strings.Cut(info.ContentType, ";"); media != "application/octet-stream" && media != "binary/octet-stream" {
		file.MediaType = strings.TrimSpace(media)
	}
	return port.SourceContent{File: file, Version: version(info)}, nil
}

var errGone = port.SourceErrorf(port.SourceNotFound, nil, "it is not there")

// explain says what a bucket or an object could not be read for.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why := source.Unreachable("the bucket", err); why != nil {
		return why
	}
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case "NoSuchKey":
		return errGone
	case "NoSuchBucket":
		return port.SourceErrorf(port.SourceNotFound, err, "the bucket does not exist")
	case "InvalidObjectState":
		return port.SourceErrorf(port.SourceSkipped, err, "it lies in an archive")
	case "AccessDenied", "AllAccessDisabled":
		return port.SourceErrorf(port.SourceForbidden, err, "the key may not list the bucket or read the object")
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return port.SourceErrorf(port.SourceCredentials, err, "the server does not take the key")
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return port.SourceErrorf(port.SourceConfig, err, "the bucket lies in another region or at another endpoint")
	case "SlowDown", "TooManyRequests", "Throttling":
		return port.SourceErrorf(port.SourceRateLimited, err, "the server wants fewer requests")
	}
	return port.SourceErrorf(port.SourceUnavailable, err, "the server does not answer as one of S3's")
}

// Revoke has nothing to give back.
func (c *Connector) Revoke(context.Context, port.Connection) error { return nil }

var _ port.Connector = (*Connector)(nil)
