package remote

import (
	"github.com/mnemehq/mneme/core/port"
)

// Model is what an operator declares about a remote model.
type Model struct {
	ID         string // the operator's name for it; "": Name
	Name       string // the server's
	Task       port.Task
	Revision   string
	Dimensions int // of an embedder
	Window     int // longest input in tokens
	Query      string
	Passage    string // with Query: what tells the two sides apart, see Identity
	Licence    string
}

// Check notes what cannot work.
func (m Model) Check(p *Problems) {
	p.Check(m.Name != "", "model", "must name a model")
	p.Check(m.Revision != "", "revision", "must not be empty; 1 will do")
	if m.Task == port.TaskEmbed {
		p.Check(m.Dimensions >= 1 && m.Dimensions <= 16384, "dimensions", "must say how long the model's vectors are, 1-16384")
	}
	if m.Task != port.TaskSynthesize {
		p.Check(m.Window >= 32 && m.Window <= 1<<20, "max_input_tokens", "must be 32-1048576")
	}
}

// Info describes the model; its digest is that of its Identity.
func (m Model) Info() port.ModelInfo {
	id := m.ID
	if id == "" {
		id = m.Name
	}
	info := port.ModelInfo{
		ID:        id,
		Name:      m.Name,
		Version:   m.Revision,
		Tasks:     []port.Task{m.Task},
		MaxTokens: m.Window,
		Licence:   m.Licence,
		Runtime:   "remote",
	}
	if m.Task == port.TaskEmbed {
		info.Dimensions = m.Dimensions
	}
	info.Digest = Identity{
		Task:       m.Task,
		Model:      m.Name,
		Revision:   m.Revision,
		Dimensions: info.Dimensions,
		Query:      m.Query,
		Passage:    m.Passage,
	}.Digest()
	return info
}
