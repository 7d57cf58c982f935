// Package process is the model adapter for backends that run beside this process:
// any program, in any language, that speaks the process protocol of plugins/proto.
// Choose it for a model with a runtime of its own, such as ONNX Runtime or a GPU
// library, or one that comes as a program. It costs a process, what that keeps in
// memory, and a hop over a socket for each batch; a crash of the backend is no crash
// of this process.
package process
