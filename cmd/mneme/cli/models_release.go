package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/cmd/mneme/internal/release"
	"github.com/mnemehq/mneme/wasm/models"
)

// releaseFlags are the flags of models pack for a vendor's folder.
type releaseFlags struct {
	catalogue string
	listing   release.Listing
}

func (r *releaseFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.catalogue, "catalogue", "",
		"vendor's model: catalogue file to list the release in; it is made where it is not there")
	f.StringVar(&r.listing.At, "at", "", "vendor's model: URL of the folder where the archive will lie, the catalogue's base")
	f.StringVar(&r.listing.Summary, "summary", "", "vendor's model: what the catalogue says that it is for")
}

// isVendors tells a vendor's folder from a checkpoint.
func isVendors(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, models.ManifestFile))
	return err == nil
}

// ownReleaseFlags are the flags that packing a vendor's model has; the others are of checkpoints.
var ownReleaseFlags = []string{"out", "catalogue", "at", "summary", "source"}

// packRelease packs a vendor's model and lists it in a catalogue.
func (c *command) packRelease(cmd *cobra.Command, dir, out string, r releaseFlags) error {
	var foreign []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(ownReleaseFlags, f.Name) && cmd.InheritedFlags().Lookup(f.Name) == nil {
			foreign = append(foreign, "--"+f.Name)
		}
	})
	if len(foreign) > 0 {
		return usage("%s: %s has a %s, which says that itself; the flag is for checkpoints", strings.Join(foreign, ", "), dir,
			models.ManifestFile)
	}
	made, err := release.Archive(dir, out)
	if err != nil {
		return err
	}
	e := made.Entry
	fmt.Fprintf(c.stdout, "%s: %s %s, %s, %s, licence %s, sha256 %s\n", made.File, made.Name, e.Version, plural(len(made.Names),
		"file"), megabytes(e.DownloadBytes()), e.Licence, e.Files[0].SHA256)
	if r.catalogue == "" {
		text, err := made.Print(r.listing)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "for a catalogue (--catalogue FILE puts it there):\n\n%s", text)
		return err
	}
	changed, err := made.AddTo(r.catalogue, r.listing)
	if err != nil {
		return err
	}
	says := "lists it"
	if !changed {
		says = "listed it already"
	}
	_, err = fmt.Fprintf(c.stdout, "%s %s\n", r.catalogue, says)
	return err
}

// zipMagic begins every zip archive that holds something.
const zipMagic = "PK\x03\x04"

func isArchive(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	begins := make([]byte, len(zipMagic))
	_, err = io.ReadFull(f, begins)
	return err == nil && string(begins) == zipMagic
}

// unpacked unpacks a release for as long as a command uses it.
func (c *command) unpacked(ctx context.Context, file string) (string, error) {
	temp, err := os.MkdirTemp("", "mneme-release-")
	if err != nil {
		return "", err
	}
	c.temporary = append(c.temporary, temp)
	dir := filepath.Join(temp, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	return dir, pull.UnpackRelease(ctx, file, dir)
}

// clean removes what the command has kept in temporary folders.
func (c *command) clean() error {
	var errs []error
	for _, dir := range c.temporary {
		errs = append(errs, os.RemoveAll(dir))
	}
	c.temporary = nil
	return errors.Join(errs...)
}
