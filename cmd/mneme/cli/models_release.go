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

	"github.com/mnemehq/mneme/cmd/mneme/internal/minisig"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/cmd/mneme/internal/release"
	"github.com/mnemehq/mneme/wasm/models"
)

// releaseFlags are the flags of models pack for a vendor's folder.
type releaseFlags struct {
	catalogue, sign string
	listing         release.Listing
}

func (r *releaseFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.catalogue, "catalogue", "",
		"vendor's model: catalogue file to list the release in; it is made where it is not there")
	f.StringVar(&r.sign, "sign", "", "vendor's model: private key to sign the archive and the catalogue with")
	f.StringVar(&r.listing.At, "at", "", "vendor's model: URL of the folder where the archive will lie, the catalogue's base")
	f.StringVar(&r.listing.Summary, "summary", "", "vendor's model: what the catalogue says that it is for")
}

// isVendors tells a vendor's folder from a checkpoint.
func isVendors(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, models.ManifestFile))
	return err == nil
}

// ownReleaseFlags are the flags that packing a vendor's model has; the others are of checkpoints.
var ownReleaseFlags = []string{"out", "catalogue", "at", "summary", "source", "sign"}

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
	var signer *minisig.Signer
	if r.sign != "" {
		var err error
		if signer, err = minisig.ReadSigner(r.sign, nil); err != nil {
			return err
		}
	}
	made, err := release.Archive(dir, out)
	if err != nil {
		return err
	}
	if signer != nil {
		if err := c.signFile(signer, made.File); err != nil {
			return err
		}
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
	fmt.Fprintf(c.stdout, "%s %s\n", r.catalogue, says)
	if signer != nil {
		return c.signFile(signer, r.catalogue)
	}
	if _, err := os.Stat(r.catalogue + minisig.Suffix); err == nil && changed {
		fmt.Fprintf(c.stderr, "%s%s is of the catalogue as it was; sign it again: mneme models sign --key KEY %s\n", r.catalogue,
			minisig.Suffix, r.catalogue)
	}
	return nil
}

// signFile signs a file and says so.
func (c *command) signFile(s *minisig.Signer, file string) error {
	if err := s.Sign(file); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.stdout, "%s%s signs it\n", file, minisig.Suffix)
	return err
}

func (c *command) modelsKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen NAME",
		Short: "Make the keys that a publisher signs releases with",
		Long: `Make a pair of keys in the form of minisign: NAME.key, which signs and which nobody else
may have, and NAME.pub, which verifies. The private key has no password, so that a build
can use it; minisign -C gives it one, and then minisign itself has to sign. The public
key is printed as an operator pins it.`,
		Example: "  mneme models keygen acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			private, public, err := minisig.Generate()
			if err != nil {
				return err
			}
			for _, f := range []struct {
				name string
				text []byte
				mode os.FileMode
			}{{args[0] + ".key", private, 0o600}, {args[0] + ".pub", public, 0o644}} {
				if err := writeNew(f.name, f.text, f.mode); err != nil {
					return err
				}
			}
			key, err := minisig.ParseKey(string(public))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "%s.key signs, keep it secret; %s.pub verifies. For your customers, with the URL "+
				"of your catalogue:\n\npull:\n  publishers:\n    %s: { url: \"https://...\", public_key: %q }\n", args[0],
				args[0], filepath.Base(args[0]), key)
			return err
		},
	}
}

// writeNew writes a file that is not there yet.
func writeNew(name string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (c *command) modelsSignCommand() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "sign --key KEY FILE...",
		Short: "Sign a catalogue or the archive of a release",
		Long: `Write the signature of each file beside it, as FILE.minisig, in the form of minisign:
minisign -V verifies it as well. A file that is signed already as it is keeps its
signature, and each other one says a later time than the one before, which tells an old
catalogue from a new one.`,
		Example: "  mneme models sign --key acme.key catalogue.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return usage("models sign needs --key: the file that models keygen made")
			}
			s, err := minisig.ReadSigner(key, nil)
			if err != nil {
				return err
			}
			for _, file := range args {
				if err := c.signFile(s, file); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "file of the private key (required)")
	return cmd
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
