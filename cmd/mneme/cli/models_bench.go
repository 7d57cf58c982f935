package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/modelkit"
)

// benchedModel is a model's line of models bench.
type benchedModel struct {
	Model  string           `json:"model"`
	Digest string           `json:"digest"`
	Speed  []modelkit.Speed `json:"speed"`
}

func (c *command) modelsBenchCommand() *cobra.Command {
	var ch modelFlags
	var length time.Duration
	var asJSON, alone bool
	var against string
	cmd := &cobra.Command{
		Use:   "bench [MODEL...]",
		Short: "Measure models beside the built-in ones",
		Long: `Measure for each task of a model how long a caller waits for a short call, how many
such calls and how many passages of about 120 word pieces are done a second (32 a call,
or 8 where --length is less than a second), the
memory of its instances or processes, and the time from opening to the first answer.
The built-in model of the task is measured in turns with it, and (x1.50) is the ratio
to that: on a busy machine times mean little, ratios do. --against names another model to
compare with, your release before this one say, as MODEL is named.
` + modelFlagsHelp,
		Example: "  mneme models bench\n  mneme models bench installed:bge-small-en-v1.5 --length 30s\n  mneme models " +
			"bench ./acme --against ./acme-1.zip\n  mneme models bench --process ./backend --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if length < 100*time.Millisecond {
				return usage("--length is 100ms at least")
			}
			if alone && against != "" {
				return usage("--alone compares with nothing, --against with a model")
			}
			cfg, all, err := c.selectModels(cmd.Context(), ch, args)
			if err != nil {
				return err
			}
			var before *selectedModel
			if against != "" {
				found, err := c.namedModel(cmd.Context(), cfg, against)
				if err != nil {
					return err
				}
				found.name = against // it may have the name of the one that is measured
				before = &found
			}
			watch := newWatcher(c.stderr)
			var list []benchedModel
			for _, one := range all {
				m := modelkit.Measurement{
					Open:     c.opener(cfg, one),
					Memory:   one.memory(),
					Length:   length,
					Progress: func(s modelkit.Step) { watch.step(one.name, s) },
				}
				switch {
				case before != nil:
					m.Baseline, m.Memory = c.earlier(cfg, *before), memoryOfEither(one, *before)
				case !alone:
					m.Baseline = c.baseline(cfg, one)
				}
				info, speed, err := modelkit.Measure(cmd.Context(), m)
				watch.end()
				if err != nil {
					return err
				}
				list = append(list, benchedModel{one.name, info.Digest, speed})
			}
			if asJSON {
				return printJSON(c.stdout, struct {
					Models []benchedModel `json:"models"`
				}{list})
			}
			return c.printBench(list)
		},
	}
	ch.flags(cmd)
	cmd.Flags().DurationVar(&length, "length", 10*time.Second, "how long to measure each task")
	cmd.Flags().BoolVar(&alone, "alone", false, "compare with no other model")
	cmd.Flags().StringVar(&against, "against", "", "compare with this model, not with the built-in one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// memoryOfEither measures two models, where their memory can be told apart.
func memoryOfEither(one, before selectedModel) func(port.Model) (used, ceiling int64) {
	of, ofBefore := one.memory(), before.memory()
	if slices.Equal(one.program(), before.program()) {
		return nil
	}
	return func(m port.Model) (int64, int64) {
		measure := of
		if m.Info().ID == before.name {
			measure = ofBefore
		}
		if measure == nil {
			return 0, 0
		}
		return measure(m)
	}
}

func (c *command) printBench(list []benchedModel) error {
	var rows [][]string
	for _, m := range list {
		for _, s := range m.Speed {
			r := s.Ratio
			if r == nil {
				r = &modelkit.Ratio{}
			}
			cell := func(format string, v, ratio float64) string {
				if v == 0 {
					return ""
				}
				if ratio == 0 {
					return fmt.Sprintf(format, v)
				}
				return fmt.Sprintf(format+" (%s)", v, modelkit.Times(ratio))
			}
			f := s.Model
			memory := ""
			if f.Memory > 0 {
				memory = cell("%.1f MB", float64(f.Memory)/1e6, r.Memory)
			}
			base := ""
			if s.Baseline != nil {
				base = s.Baseline.Name
			}
			task := string(s.Task)
			if s.Task == port.TaskRerank {
				task += " of 20"
			}
			rows = append(rows, []string{m.Model, task, cell("%.2f ms", f.P50MS, r.P50), cell("%.2f ms", f.P95MS, 0),
				cell("%.0f", f.Calls, r.Calls),
				cell("%.0f", f.Texts, r.Texts), memory, cell("%.0f ms", f.ColdMS, r.Cold), base})
		}
	}
	return table(c.stdout, []string{"MODEL", "TASK", "P50", "P95", "CALLS/S", "PASSAGES/S", "MEMORY", "FIRST ANSWER",
		"X IS AGAINST"}, rows)
}
