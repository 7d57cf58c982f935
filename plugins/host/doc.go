// Package host implements the model ports over model backends, which run as processes:
// it speaks the process protocol (plugins/proto) with them, and checks what they answer
// before anything uses it. How a backend is started and kept running is supervise's; one
// that describes itself otherwise after a restart is refused, since vectors of two models
// never meet. Package connector does the same for connectors of sources.
package host
