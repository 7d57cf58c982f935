package service

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

// dispatch runs what the service manager starts and stops, or returns errUnmanaged where it did not start this
// process. The manager itself is asked: who the parent is, and in which session, says less in a container.
func dispatch(s service.Interface) error {
	h := &handler{server: s}
	err := svc.Run("", h) // a process with one service needs no name
	if errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) {
		return errUnmanaged
	}
	return errors.Join(err, h.err)
}

type handler struct {
	server service.Interface
	err    error
}

// Execute implements svc.Handler.
func (h *handler) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	// Services are told when anybody logs off, too, which ends none that does not listen for it.
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	status <- svc.Status{State: svc.StartPending}
	if h.err = h.server.Start(nil); h.err != nil {
		return true, 1
	}
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for r := range requests {
		switch r.Cmd {
		case svc.Interrogate:
			status <- r.CurrentStatus
		case svc.Stop, svc.Shutdown:
			status <- svc.Status{State: svc.StopPending, WaitHint: uint32(stopSeconds * time.Second / time.Millisecond)}
			if h.err = h.server.Stop(nil); h.err != nil {
				return true, 1
			}
			return false, 0
		}
	}
	return false, 0
}
