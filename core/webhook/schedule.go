package webhook

import (
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// schedule are the times between the attempts of a delivery, the first of which is at once
// (docs/contract.md#webhook-attempts).
var schedule = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

const (
	// jitter is the part of a time by which it may be shorter or longer, so that what has failed
	// together is not tried together again.
	jitter = 0.2
	// longestWait is how long an endpoint may have a delivery wait.
	longestWait = 24 * time.Hour
	// keptAttempts are those that are kept of a delivery.
	keptAttempts = 12
)

// pause is how long a delivery waits after a number of attempts; ok is false after the last.
// random is at least 0 and below 1.
func pause(tries int, asked time.Duration, random float64) (d time.Duration, ok bool) {
	if tries > len(schedule) {
		return 0, false
	}
	d = schedule[tries-1]
	d += time.Duration((2*random - 1) * jitter * float64(d))
	return max(d, min(asked, longestWait)), true
}

const (
	// failingFor is how long an endpoint may take nothing before it is disabled, if failingEvents
	// events have failed, each apart from the last: one bad event ends nothing.
	failingFor    = 5 * 24 * time.Hour
	failingEvents = 3
	apart         = 12 * time.Hour
)

// after is the health of an endpoint after an attempt with an event.
func after(h port.WebhookHealth, event string, at time.Time, succeeded bool) port.WebhookHealth {
	switch {
	case succeeded:
		return port.WebhookHealth{}
	case h.Since.IsZero():
		return port.WebhookHealth{Since: at, Events: 1, Event: event, At: at}
	case h.Event != event && at.Sub(h.At) >= apart:
		h.Events, h.Event, h.At = h.Events+1, event, at
	}
	return h
}

// lost reports whether an endpoint with this health is disabled.
func lost(h port.WebhookHealth, at time.Time) bool {
	return !h.Since.IsZero() && at.Sub(h.Since) >= failingFor && h.Events >= failingEvents
}
