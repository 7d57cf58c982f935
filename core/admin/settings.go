package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/op"
)

// None is the request of what takes no parameters.
type None struct{}

// Configuration answers GET /settings.
type Configuration struct {
	Version string `json:"version" doc:"of the program"`
	YAML    string `json:"yaml" doc:"what defaults, file, environment variables and flags come to together, as YAML; secrets are redacted"`
}

// GetSettings shows the configuration that the server runs with, to those who may see all of it.
func (s *Service) GetSettings(ctx context.Context, _ None) (Configuration, error) {
	if err := operator(ctx, "read the settings"); err != nil {
		return Configuration{}, err
	}
	return s.configuration, nil
}

func readSettings() op.Spec {
	return op.Spec{
		Name:    "admin.settings.get",
		Group:   op.AdminSettings,
		Method:  "GET",
		Path:    base + "/settings",
		Family:  op.Administration,
		Class:   op.Admin,
		Timeout: 10 * time.Second,
		Summary: "Read the server's configuration",
		Description: "The same as `mneme config show` prints: secrets are redacted. It is that of the start, and of the server " +
			"that answers. For keys of all organizations.",
	}
}
