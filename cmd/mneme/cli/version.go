package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build says what this binary is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Time    string `json:"time"` // of the commit
	Go      string `json:"go"`
	Target  string `json:"target"`
}

// What a build outside of a checkout is told, as that of an image is:
// -ldflags "-X github.com/mnemehq/mneme/cmd/mneme/cli.version=... -X ....commit=...".
var (
	version = "devel"
	commit  = "unknown"
)

// thisBuild reads what the build was told and what the toolchain recorded, which goes first.
func thisBuild() build {
	b := build{
		Version: version,
		Commit:  commit,
		Time:    "unknown",
		Go:      runtime.Version(),
		Target:  runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	b.Commit += dirty
	return b
}

// String is what the command and the flag print.
func (b build) String() string {
	return fmt.Sprintf("mneme %s\ncommit %s of %s\n%s %s\n", b.Version, b.Commit, b.Time, b.Go, b.Target)
}

func (c *command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and toolchain",
		Example: "  mneme version\n  mneme version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := thisBuild()
			if asJSON {
				return json.NewEncoder(c.stdout).Encode(b)
			}
			_, err := fmt.Fprint(c.stdout, b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
