package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/ident"
)

// namespacePath is the path of what an administrator does with a namespace; org ""
// is the default one.
func namespacePath(org, namespace, action string) string {
	if org == "" {
		org = ident.DefaultOrg
	}
	return "/admin/v1/organizations/" + url.PathEscape(org) + "/namespaces/" + url.PathEscape(namespace) + "/" + action
}

// exportNamespace exports one namespace from a server.
func (c *command) exportNamespace(
	ctx context.Context, t target, m dataset.Contents, out string, sign *datasetfile.Signer,
) (err error) {
	if len(m.Namespaces) != 1 || m.Memories || m.Keys || m.Secrets {
		return usage("a server exports one namespace: name it with --namespace; the whole installation is exported from " +
			"its store, without --url")
	}
	cl, done, err := c.connect(ctx, "export", t)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, done()) }()
	path := namespacePath(m.Organization, m.Namespaces[0], "export")
	if !m.Vectors {
		path += "?vectors=false"
	}
	body, err := cl.Stream(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, body.Close()) }()
	bar := newProgress(c.stderr)
	defer bar.end()
	told := func(done, total int64) { bar.update("exporting documents", int(done), int(max(done, total))) }
	var w datasetfile.Written
	if out == "-" {
		w, err = datasetfile.Check(io.TeeReader(body, c.stdout), told)
	} else {
		w, err = datasetfile.Receive(body, out, sign, told)
	}
	bar.end()
	if err != nil {
		return fmt.Errorf("the export is not whole: %w", err)
	}
	fmt.Fprintf(c.stderr, "exported %s\n", describeCounts(w.Counts))
	return nil
}

// importNamespace brings a data set of one namespace into a server.
func (c *command) importNamespace(
	ctx context.Context, t target, path, org, namespace, model string, on dataset.Policy, rights trust,
) (err error) {
	if rights.Authority != (installation.Authority{}) {
		return usage("a server takes one namespace, without keys and secrets")
	}
	if err := verifyFile(path, rights); err != nil {
		return err
	}
	if namespace == "" {
		if namespace, err = namespaceOf(path); err != nil {
			return err
		}
	}
	t.admin = true
	cl, done, err := c.connect(ctx, "import", t)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, done()) }()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	encoding := ""
	magic := make([]byte, 2)
	if _, err := f.ReadAt(magic, 0); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		encoding = "gzip"
	}
	bar := newProgress(c.stderr)
	defer bar.end()
	sent := &countingReader{r: f, report: func(n int64) { bar.update("sending KiB", int(n>>10), int(info.Size()>>10)) }}
	var r admin.ImportedNamespace
	query := url.Values{"on_conflict": {string(on)}}
	if model != "" {
		query.Set("embedding_model", model)
	}
	err = cl.Upload(ctx, namespacePath(org, namespace, "import")+"?"+query.Encode(), "application/x-ndjson", encoding, sent, &r)
	bar.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s: %s created, %d replaced, %d there already, %d with other contents kept; %d embedded again\n",
		r.Namespace, plural(int(r.Created), "document"), r.Replaced, r.Unchanged, r.Skipped, r.Embedded)
	return nil
}

// verifyFile checks the signature of a data set, if one is asked for.
func verifyFile(path string, t trust) (err error) {
	signed, err := t.verifier()
	if err != nil || signed == nil {
		return err
	}
	f, err := datasetfile.OpenFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	whole, err := datasetfile.Check(f, func(int64, int64) {})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return signed.Verify(path, whole.Chain)
}

// namespaceOf is the name of the only namespace of a data set.
func namespaceOf(path string) (name string, err error) {
	f, err := datasetfile.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, err := installation.ReadHeader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if m := h.Contents; len(m.Namespaces) != 1 || m.Memories || m.Keys || m.Secrets {
		return "", usage("%s holds more than one namespace; a server takes one, and a whole data set is imported into "+
			"its store, without --url", path)
	}
	return h.Contents.Namespaces[0], nil
}

// countingReader reports how much of a file has been read.
type countingReader struct {
	r      io.Reader
	n      int64
	report func(int64)
}

func (s *countingReader) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.n += int64(n)
	s.report(s.n)
	return n, err
}
