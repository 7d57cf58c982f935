package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/mnemehq/mneme/core/port"
)

// maxRefs is how many bytes a repository's list of names may have.
const maxRefs = 64 << 20

// session is a talk with git-upload-pack, in the first version of its protocol.
type session interface {
	refs() *packp.AdvRefs // nil: the repository is empty
	// pack asks for objects; the answer is read once, before Close.
	pack(ctx context.Context, request io.Reader) (io.ReadCloser, error)
	io.Closer
}

// dialer begins a session; heard is called whenever something of the server is read.
type dialer func(ctx context.Context, heard func()) (session, error)

var errNoRef = errors.New("git: no such reference")

// resolve is the commit of a name, or empty of a repository without any.
func resolve(refs *packp.AdvRefs, name string) (string, error) {
	if refs == nil {
		if name == "" {
			return "", nil
		}
		return "", errNoRef
	}
	if name == "" {
		if refs.Head == nil {
			return "", errNoRef
		}
		return refs.Head.String(), nil
	}
	for _, full := range []string{name, "refs/heads/" + name, "refs/tags/" + name} {
		if h, ok := refs.Peeled[full]; ok {
			return h.String(), nil
		}
		if h, ok := refs.References[full]; ok {
			return h.String(), nil
		}
	}
	if plumbing.IsHash(name) && len(name) == 40 {
		return strings.ToLower(name), nil
	}
	return "", errNoRef
}

// readRefs reads the list of names; nil is that of an empty repository. Over HTTP the
// service is named first: an answer without that says nothing of a repository.
func readRefs(r io.Reader, named bool) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	err := refs.Decode(io.LimitReader(r, maxRefs))
	switch {
	case named && len(refs.Prefix) == 0:
		return nil, errors.New("no list of names")
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return nil, nil
	case err != nil:
		return nil, err
	case refs.Head == nil && len(refs.References) == 0: // it says what it can do, and has nothing
		return nil, nil
	}
	return refs, nil
}

// ask is the request for the files of a commit.
func ask(refs *packp.AdvRefs, commit string, most int64) (request *packp.UploadPackRequest, filtered bool) {
	r := packp.NewUploadPackRequest()
	r.Wants = []plumbing.Hash{plumbing.NewHash(commit)}
	can := refs.Capabilities
	for _, c := range []capability.Capability{capability.OFSDelta, capability.NoProgress, capability.Sideband64k} {
		if can.Supports(c) {
			_ = r.Capabilities.Set(c) // fails for those that take a value
		}
	}
	if can.Supports(capability.Shallow) {
		_ = r.Capabilities.Set(capability.Shallow)
		r.Depth = packp.DepthCommits(1)
	}
	if filtered = can.Supports(capability.Filter); filtered {
		_ = r.Capabilities.Set(capability.Filter)
		r.Filter = packp.FilterBlobLimit(uint64(most)+1, packp.BlobLimitPrefixNone)
	}
	return r, filtered
}

// encode writes a request.
func encode(w io.Writer, r *packp.UploadPackRequest) error {
	if err := r.UploadRequest.Encode(w); err != nil {
		return err
	}
	return pktline.NewEncoder(w).Encodef("done\n")
}

// openPack finds the pack in an answer.
func openPack(answer io.ReadCloser, r *packp.UploadPackRequest) (io.Reader, error) {
	response := packp.NewUploadPackResponse(r)
	if err := response.Decode(answer); err != nil {
		var said *pktline.ErrorLine
		if errors.As(err, &said) {
			return nil, port.SourceErrorf(port.SourceUnavailable, err, "the server does not send the commit")
		}
		return nil, fmt.Errorf("the answer to the request: %w", err)
	}
	if r.Capabilities.Supports(capability.Sideband64k) {
		return sideband.NewDemuxer(sideband.Sideband64k, response), nil
	}
	return response, nil
}

// hearing calls heard for what it reads.
type hearing struct {
	io.ReadCloser
	heard func()
}

func (h hearing) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		h.heard()
	}
	return n, err
}
