package source

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/adhocore/gronx"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of schedules.
const (
	minEvery   = time.Minute
	maxEvery   = 8760 * time.Hour
	maxJitter  = 5 * time.Minute
	patience   = 5              // failures in a row before a schedule slows down
	maxBackoff = 24 * time.Hour // between two runs of a source that fails
)

// parseSchedule checks a schedule of a request; nil or without fields: none.
func parseSchedule(s *Schedule) (port.SourceSchedule, error) {
	var out port.SourceSchedule
	switch {
	case s == nil || *s == Schedule{}:
		return out, nil
	case s.Every != "" && s.Cron != "":
		return out, fault.Field(fault.InvalidRequest, "schedule", "has both every and cron; give one")
	case s.Every != "":
		d, err := time.ParseDuration(s.Every)
		if err != nil || d < minEvery || d > maxEvery {
			return out, fault.Field(fault.InvalidRequest, "schedule.every", "must be a duration between 1m and 8760h, such as 6h")
		}
		out.Every = d
		return out, nil
	}
	// Five fields alone: seconds, years and names such as @daily are the library's own.
	out.Cron = strings.Join(strings.Fields(s.Cron), " ")
	if len(strings.Fields(out.Cron)) != 5 || strings.Contains(out.Cron, "@") || !gronx.IsValid(out.Cron) {
		return out, fault.Field(fault.InvalidRequest, "schedule.cron",
			`must be five fields: minute, hour, day of the month, month and day of the week, such as "30 4 * * *"`)
	}
	if tick(out, time.Now()).IsZero() {
		return out, fault.Field(fault.InvalidRequest, "schedule.cron", "names no time that ever comes")
	}
	return out, nil
}

// tick is the next time of a schedule after another; zero: it never comes.
func tick(s port.SourceSchedule, after time.Time) time.Time {
	switch {
	case s.Every > 0:
		return after.Add(s.Every)
	case s.Cron != "":
		next, err := gronx.NextTickAfter(s.Cron, after.UTC(), false)
		if err == nil && next.After(after) {
			return next
		}
	}
	return time.Time{}
}

// next is when a source is to run again by its schedule: with a jitter, so that sources of
// one schedule do not all begin at once, and later the more often it has failed in a row.
func next(s port.SourceSchedule, failures int, now time.Time) time.Time {
	at := tick(s, now)
	if at.IsZero() {
		return at
	}
	wait := at.Sub(now)
	for n := patience; n <= failures && wait < maxBackoff; n++ {
		wait = min(2*wait, maxBackoff)
	}
	if bound := min(wait/10, maxJitter); bound > 0 {
		wait += rand.N(bound)
	}
	return now.Add(wait)
}
