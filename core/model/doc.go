// Package model is the service that lists the configured models.
package model
