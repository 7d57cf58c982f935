// Package api is what oapi-codegen makes of the interface's description: types, constants of the values
// that fields may have, and the requests. Package mneme is what programs call.
package api
