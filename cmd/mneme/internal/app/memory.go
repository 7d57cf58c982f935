package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/mnemehq/mneme/configs"
)

// outsideGo is what a process holds beside Go's memory, at least: compiled models, what
// SQLite takes, and pages of files in use. With 40 MiB, the smallest container left Go a
// megabyte more than it needs, and its collector took a quarter of the quickstart.
const outsideGo = 36 << 20

// The memory without which the kernel ends a process while it starts or soon after, as
// tried (docs/operators.md#containers-and-kubernetes).
const (
	leastMemory     = 48 << 20
	leastWithModels = 96 << 20
)

// cramped is the memory below which models work on one text at once, since each instance is a
// copy of what a model computes with, and those that may never be called hold nothing until they are.
const cramped = 128 << 20

// tight is the memory below which pages of the program are brought in one by one.
const tight = 160 << 20

// containerMemory is what the control group of this process may hold. Where none bounds
// it, it is the machine's memory.
func containerMemory() (uint64, error) {
	machine, err := memlimit.FromSystem()
	if err != nil {
		return memlimit.FromCgroup()
	}
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > machine { // the largest number stands for none
		return machine, nil
	}
	return limit, nil
}

// fitMemory refuses a start for which there is no room, since the kernel would end it
// without a word, and has Go's collector work harder as memory runs short. GOMEMLIMIT and
// GOMAXPROCS override the latter. sparing: what there is, is little.
func fitMemory(from memlimit.Provider, c *configs.Config, log *slog.Logger) (sparing bool, err error) {
	if from == nil {
		from = containerMemory
	}
	limit, err := from()
	if err != nil {
		if !errors.Is(err, memlimit.ErrNoLimit) {
			log.Debug("memory limit unknown", "error", err)
		}
		return false, nil
	}
	if least := memoryNeeded(c); limit < least {
		return false, fmt.Errorf("there are %d MiB of memory for this process, and with this configuration it needs %d MiB "+
			"to start: allow it more, or have models run elsewhere or not at all (models, roles)", limit>>20, least>>20)
	}
	if limit < cramped && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	if limit < tight {
		if err := readSingly(); err != nil {
			log.Debug("pages not read one by one", "error", err)
		}
	}
	forGo := limit / 2
	if limit > 2*outsideGo {
		forGo = limit - max(outsideGo, limit/10)
	}
	kept, err := memlimit.Set(memlimit.WithProvider(memlimit.Limit(forGo)), memlimit.WithRatio(1))
	if err != nil {
		log.Warn("memory limit not kept", "error", err)
		return limit < cramped, nil
	}
	log.Debug("memory limit kept", "memory_mb", limit>>20, "collector_mb", kept>>20)
	return limit < cramped, nil
}

// memoryNeeded is the least that a process of this configuration starts with.
func memoryNeeded(c *configs.Config) uint64 {
	for _, name := range c.ModelNames() {
		if c.Models[name].Component == "wasm" {
			return leastWithModels
		}
	}
	return leastMemory
}
