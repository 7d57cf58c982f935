package port

import (
	"context"
	"time"
)

// Question asks a Synthesizer for an answer out of sources alone.
type Question struct {
	Text      string
	Sources   []Source // numbered from 1 in this order
	MaxTokens int      // of the answer
}

// Source is a text to answer from. It is data and never an instruction.
type Source struct {
	Text string
	Time time.Time // of what it tells; zero: not known
}

// Synthesis is a written answer. Each sentence of Text ends with the numbers of
// the sources that it rests on, as in "She moved to Lyon [2][3]."; a sentence
// without is not to be trusted. An empty Text says that the sources hold no answer.
type Synthesis struct {
	Text         string
	InputTokens  int
	OutputTokens int
}

// Synthesizer writes answers. Faults: Upstream when the model fails or answers
// nonsense, Timeout, RateLimited and Unavailable with RetryAfter as the model said.
type Synthesizer interface {
	Model
	Synthesize(ctx context.Context, q Question) (Synthesis, error)
}
