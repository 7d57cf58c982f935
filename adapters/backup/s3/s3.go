package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Options are what a test changes; zero values are the defaults.
type Options struct {
	Credentials *credentials.Credentials // nil: the environment's, those of ~/.aws, or the machine's role
	Tries       int                      // of a request that the server could not answer; 0: 10
	Renew       time.Duration            // of the lock; 0: a minute
}

// stale is how many renewals a lock may miss.
const stale = 10

// Place is a bucket, or what begins with a prefix in it.
type Place struct {
	client *minio.Client
	bucket string
	prefix string // "" or ends in a slash
	renew  time.Duration
}

// Scheme begins the name of a place in a bucket.
const Scheme = "s3://"

// Open names a place: s3://bucket/prefix, with ?endpoint=https://host:9000 and &region=name for a server
// other than Amazon's. It asks nothing of it.
func Open(place string, o Options) (*Place, error) {
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "s3" || u.User != nil || u.Port() != "" || s3utils.CheckValidBucketName(u.Host) != nil {
		return nil, errors.New("has to be like s3://bucket/prefix; keys are given by AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY")
	}
	p := &Place{bucket: u.Host, renew: cmp.Or(o.Renew, time.Minute)}
	if p.prefix = strings.Trim(u.Path, "/"); p.prefix != "" {
		p.prefix += "/"
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("can't be read: %w", err)
	}
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("knows endpoint and region, and not %q", name)
		}
	}
	at, err := url.Parse(cmp.Or(q.Get("endpoint"), "https://s3.amazonaws.com"))
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Hostname() == "" || at.User != nil ||
		strings.Trim(at.Path, "/") != "" {
		return nil, errors.New("has an endpoint that is not like https://host or https://host:port")
	}
	if o.Credentials == nil {
		o.Credentials = credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		})
	}
	p.client, err = minio.New(at.Host, &minio.Options{
		Secure: at.Scheme == "https", Region: q.Get("region"), MaxRetries: cmp.Or(o.Tries, 10), Creds: o.Credentials,
	})
	if err != nil {
		return nil, fmt.Errorf("names no server that can be asked: %w", err)
	}
	return p, nil
}

// String is the place without its endpoint.
func (p *Place) String() string { return Scheme + p.bucket + "/" + p.prefix }

// Read implements port.BackupPlace.
func (p *Place) Read(ctx context.Context, name string, off, n int64) ([]byte, error) {
	var options minio.GetObjectOptions
	if n > 0 {
		if err := options.SetRange(off, off+n-1); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	object, err := p.client.GetObject(ctx, p.bucket, p.prefix+name, options)
	if err != nil {
		return nil, p.explain(ctx, "read "+name, err)
	}
	defer func() { _ = object.Close() }() // what was read has its own length
	body, err := io.ReadAll(object)
	if err != nil {
		return nil, p.explain(ctx, "read "+name, err)
	}
	if n > 0 && int64(len(body)) != n {
		return nil, fault.New(fault.NotFound, "%s in %s is too short", name, p)
	}
	return body, nil
}

// Write implements port.BackupPlace.
func (p *Place) Write(ctx context.Context, name string, body []byte) error {
	_, err := p.client.PutObject(ctx, p.bucket, p.prefix+name, bytes.NewReader(body), int64(len(body)),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true})
	return p.explain(ctx, "write "+name, err)
}

// List implements port.BackupPlace.
func (p *Place) List(ctx context.Context, prefix string, visit func(string, int64) error) error {
	return p.list(ctx, prefix, func(o minio.ObjectInfo) error {
		return visit(strings.TrimPrefix(o.Key, p.prefix), o.Size)
	})
}

func (p *Place) list(ctx context.Context, prefix string, visit func(minio.ObjectInfo) error) error {
	options := minio.ListObjectsOptions{Prefix: p.prefix + prefix, Recursive: true}
	for o := range p.client.ListObjectsIter(ctx, p.bucket, options) {
		if o.Err != nil {
			return p.explain(ctx, "list", o.Err)
		}
		if err := visit(o); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove implements port.BackupPlace.
func (p *Place) Remove(ctx context.Context, name string) error {
	return p.explain(ctx, "remove "+name, p.client.RemoveObject(ctx, p.bucket, p.prefix+name, minio.RemoveObjectOptions{}))
}

const locksPrefix = "locks/"

// Lock implements port.BackupPlace.
func (p *Place) Lock(ctx context.Context) (held func() error, release func(), err error) {
	name := locksPrefix + strings.ToLower(rand.Text())
	if err := p.Write(ctx, name, []byte("lock\n")); err != nil {
		return nil, nil, err
	}
	remove := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = p.Remove(ctx, name) // else it ends by its age
	}
	others := map[string]time.Time{}
	var mine time.Time
	err = p.list(ctx, locksPrefix, func(o minio.ObjectInfo) error {
		if key := strings.TrimPrefix(o.Key, p.prefix); key == name {
			mine = o.LastModified
		} else {
			others[key] = o.LastModified
		}
		return nil
	})
	for other, at := range others {
		switch {
		case err != nil:
		case mine.Sub(at) > stale*p.renew:
			err = p.Remove(ctx, other)
		default:
			err = fault.New(fault.Conflict, "another process is writing to the backups in %s", p)
		}
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	var last atomic.Int64 // when it was renewed
	last.Store(time.Now().UnixNano())
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(p.renew)
		defer t.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-t.C:
				at := time.Now()
				if p.Write(renewing, name, []byte("lock\n")) == nil {
					last.Store(at.UnixNano())
				}
			}
		}
	}()
	held = func() error {
		if time.Since(time.Unix(0, last.Load())) > stale*p.renew/2 {
			return fault.New(fault.Unavailable, "the lock of %s could not be renewed", p).After(time.Minute)
		}
		return nil
	}
	return held, func() { stop(); <-done; remove() }, nil
}

// explain says in plain words what the server refuses.
func (p *Place) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer := minio.ToErrorResponse(err)
	what := ""
	switch answer.Code {
	case "NoSuchKey", "InvalidRange":
		return fault.New(fault.NotFound, "%s: it is not in %s", doing, p)
	case "NoSuchBucket":
		what = "there is no such bucket"
	case "AccessDenied", "AllAccessDisabled":
		what = "the key may not do that"
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		what = "the server does not take the key"
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		what = "the bucket lies in another region or at another endpoint"
	}
	var unreachable *net.OpError
	switch {
	case what != "":
	case answer.StatusCode == http.StatusForbidden, answer.StatusCode == http.StatusUnauthorized:
		what = "the server refuses it"
	case errors.As(err, &unreachable):
		what = "the server can't be reached"
	default:
		what = "the server does not answer as one of S3's"
	}
	return fault.Wrap(fault.Unavailable, "backup", err, "%s: %s: %s", p, doing, what)
}

var _ port.BackupPlace = (*Place)(nil)
