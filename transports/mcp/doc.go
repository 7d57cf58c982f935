// Package mcp offers the operations that are tools, which core/tool declares, over
// the Model Context Protocol: streamable HTTP on one path, without sessions, in the revisions
// 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26. A call runs through the same
// endpoint as one over HTTP, so keys, limits, deadlines, tracing and faults are
// the same.
//
// Answers are plain JSON. Notifications that a tool sends while it works would
// need an event stream and are dropped; the product's tools send none.
package mcp
