package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/adapters/source/process"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/plugins/kit"
	"github.com/mnemehq/mneme/plugins/sourcekit"
)

const (
	quickCheck    = 2 * time.Second
	checkPatience = time.Minute // for a call that has no reason to wait
)

const sourcesKitHelp = `
A path with a / in it that is a file, such as ./acme, is a vendor's program of connectors; what follows are its
arguments, after -- if they begin with a dash. It is started as a server does, without one, and held to the
rules of PROTOCOL-SOURCE.md: its description, and with the settings and secrets of an account its listings,
where they go on, versions, reading, wrong secrets, callers that go, memory and a crash. The account should
hold some dozens of items and stay as it is in the meantime; nothing in it is changed. The exit code is 1 when a check
failed.`

// connectorFlags are the flags of checking a program of connectors.
type connectorFlags struct {
	settingFlags
	kind, mtls  string
	env         []string
	revoke      bool
	quick       bool
	format, out string
}

// names are those that go with a program alone.
func (f *connectorFlags) names() []string {
	return []string{"set", "secret", "kind", "mtls", "env", "revoke-grant", "quick", "format", "out"}
}

func (f *connectorFlags) flags(cmd *cobra.Command) {
	own := cmd.Flags()
	own.StringArrayVar(&f.settings, "set", nil,
		"with a program: a setting of the account, KEY=VALUE; of a list one value each time")
	own.StringArrayVar(&f.secrets, "secret", nil,
		"with a program: a secret of the account: NAME=file:PATH, NAME=env:VARIABLE, or NAME=- for standard input")
	own.StringVar(&f.kind, "kind", "", "with a program of several kinds: the account's")
	own.StringVar(&f.mtls, "mtls", "", "with a program: auto or off, as in the configuration (default: auto, then off)")
	own.StringArrayVar(&f.env, "env", nil,
		"with a program: NAME=VALUE for its environment, which is empty otherwise; NAME alone passes this program's")
	own.BoolVar(&f.revoke, "revoke-grant", false,
		"with a program: give the account's grant back at the end, which spends its secrets")
	own.BoolVar(&f.quick, "quick", false, "with a program: two seconds of listings instead of 15")
	own.StringVar(&f.format, "format", string(kit.Text), "with a program: text, json or junit")
	own.StringVar(&f.out, "out", "", "with a program: write the report to this file, and text to standard output")
}

// isProgram reports whether an argument is the path of a program, not the name of a source.
func isProgram(arg string) (bool, error) {
	if !strings.ContainsAny(arg, `/\`) {
		return false, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return false, usage("%s is a folder; name the program in it", arg)
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(arg, ".") && !filepath.IsAbs(arg):
		return false, nil // sources have names with slashes, too
	}
	return false, err
}

// checkConnector holds a vendor's program to what the port of connectors promises.
func (c *command) checkConnector(ctx context.Context, f connectorFlags, args []string, asJSON bool) error {
	if asJSON {
		f.format = string(kit.JSON)
	}
	format := kit.Format(f.format)
	if !slices.Contains(kit.Formats(), format) {
		return usage("--format is text, json or junit")
	}
	secrets, err := f.read(c.stdin)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	program := append([]string{path}, args[1:]...)
	opened, failed := f.open(ctx, program)
	candidate := sourcekit.Candidate{
		Name:    filepath.Base(path),
		Open:    func(context.Context) (port.Connectors, error) { return opened, failed },
		Taken:   c.ownKinds(),
		Kind:    f.kind,
		Secrets: secrets,
		Revoke:  f.revoke,
	}
	if f.quick {
		candidate.Endure = quickCheck
	}
	if canListProcesses {
		candidate.Memory = func() int64 { return residentBytes(backendPIDs(program)) }
		candidate.Break = func(context.Context) error { return killBackends(program) }
	}
	if failed == nil && (len(f.settings) > 0 || len(secrets) > 0 || f.kind != "") {
		if candidate.Config, err = f.config(opened); err != nil {
			return joinErrors(err, opened.Close())
		}
	}
	r := sourcekit.Check(ctx, candidate)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.writeCheck(f.out, format, r); err != nil {
		return err
	}
	if r.Failed() > 0 {
		return errReported
	}
	return nil
}

// open starts the program, with mtls off where it does not start and no flag says whether it uses mtls.
func (f connectorFlags) open(ctx context.Context, program []string) (port.Connectors, error) {
	config := process.Default()
	config.Command, config.Unverified = program, true
	config.Timeout, config.SilenceTimeout = checkPatience, checkPatience
	config.Env = map[string]registry.Secret{}
	for _, e := range f.env {
		name, value, given := strings.Cut(e, "=")
		if !given {
			value = os.Getenv(name)
		}
		config.Env[name] = registry.Secret(value)
	}
	start := func() (port.Connectors, error) {
		return process.Open(ctx, filepath.Base(program[0]), config, 0, slog.New(slog.DiscardHandler))
	}
	if f.mtls != "" {
		config.MTLS = f.mtls
		return start()
	}
	opened, err := start()
	if err == nil || ctx.Err() != nil {
		return opened, err
	}
	config.MTLS = "off"
	if opened, without := start(); without == nil {
		return opened, nil
	}
	return nil, err
}

// config makes settings of what the flags give, as the schema of the kind wants them.
func (f connectorFlags) config(opened port.Connectors) ([]byte, error) {
	for _, one := range opened.Connectors() {
		if k := one.Kind(); k.Name == f.kind || f.kind == "" && len(opened.Connectors()) == 1 {
			return settingsOf(source.Kind{Name: k.Name, Config: k.Config}, "", f.settings)
		}
	}
	var names []string
	for _, one := range opened.Connectors() {
		names = append(names, one.Kind().Name)
	}
	return nil, usage("--kind is one of %s", strings.Join(names, ", "))
}

// writeCheck writes a report to a file, with text to standard output, or there alone.
func (c *command) writeCheck(out string, format kit.Format, r sourcekit.Report) error {
	if out == "" {
		return sourcekit.Write(c.stdout, format, r)
	}
	if err := sourcekit.Write(c.stdout, kit.Text, r); err != nil {
		return err
	}
	return writeFile(out, func(w io.Writer) error { return sourcekit.Write(w, format, r) })
}

// writeFile writes a file by a function.
func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := joinErrors(write(file), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
